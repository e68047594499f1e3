/**
 * RNN: one step of a basic recurrent cell for each batch, in float, or with 8-bit weights in a float network (hybrid).
 */

import { defineOperation } from "../define.ts";
import { bool, int32, tensor } from "../params.ts";
import { recurrentWork } from "../work.ts";
import { rnnActivation, rnnProduct, rnnTypes } from "./_rnn.tflite.ts";
import { rnnUnits, runRnnSequence } from "./_rnn.ts";

export const rnn = defineOperation({
  name: "RNN",
  code: 1024,
  summary: "One step of a basic recurrent cell.",
  params: [
    tensor("input"),
    tensor("weights"),
    tensor("recurrentWeights"),
    tensor("bias"),
    tensor("hiddenStateIn"),
    int32("fusedActivationFunction"),
    bool("asymmetricQuantizeInputs"),
  ],
  outputs: [tensor("output"), tensor("hiddenStateOut")],
  types: rnnTypes.map(([float, weights]) => ["1.2", float, weights, weights, float, float, float, float] as const),
  ranks: { input: 2, weights: 2, recurrentWeights: 2, bias: 1 },
  work: recurrentWork,
  infer({ input, hiddenStateIn, fusedActivationFunction, ...cell }) {
    const [batches, inputs] = input.dimensions;
    const dimensions = [batches, rnnUnits(cell, hiddenStateIn, batches, inputs)];
    rnnActivation(fusedActivationFunction);
    return { output: { dimensions }, hiddenStateOut: { dimensions } };
  },
  reference({ input, hiddenStateIn, fusedActivationFunction, asymmetricQuantizeInputs, ...cell }, outputs) {
    const { output, hiddenStateOut } = outputs;
    // A step is a sequence of one time.
    return runRnnSequence({
      cell,
      activate: rnnActivation(fusedActivationFunction),
      input: { ...input, dimensions: [1, ...input.dimensions] },
      timeMajor: true,
      stateIn: hiddenStateIn,
      output: { ...output, dimensions: [1, ...output.dimensions] },
      stateOut: hiddenStateOut,
      product: rnnProduct(input, cell.weights, asymmetricQuantizeInputs),
    });
  },
});
