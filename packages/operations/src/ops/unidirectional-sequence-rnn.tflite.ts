/**
 * UNIDIRECTIONAL_SEQUENCE_RNN: a basic recurrent cell run along time, in float, or with 8-bit weights in a float network (hybrid).
 */

import { defineOperation } from "../define.ts";
import { bool, int32, tensor } from "../params.ts";
import { recurrentWork } from "../work.ts";
import { rnnActivation, rnnProduct, rnnTypes } from "./_rnn.tflite.ts";
import { rnnUnits, runRnnSequence } from "./_rnn.ts";
import { sequenceOf, sequenceShape } from "./_sequence.ts";

export const unidirectionalSequenceRnn = defineOperation({
  name: "UNIDIRECTIONAL_SEQUENCE_RNN",
  code: 1035,
  summary: "A basic recurrent cell run along time.",
  params: [
    tensor("input"),
    tensor("weights"),
    tensor("recurrentWeights"),
    tensor("bias"),
    tensor("hiddenStateIn"),
    bool("timeMajor"),
    int32("fusedActivationFunction"),
    bool("asymmetricQuantizeInputs"),
  ],
  outputs: [tensor("output"), tensor("hiddenStateOut")],
  types: rnnTypes.map(([float, weights]) => ["1.2", float, weights, weights, float, float, float, float] as const),
  ranks: { input: 3, weights: 2, recurrentWeights: 2, bias: 1 },
  work: recurrentWork,
  infer({ input, hiddenStateIn, timeMajor, fusedActivationFunction, ...cell }) {
    const { batches, size } = sequenceOf(input.dimensions, timeMajor);
    const units = rnnUnits(cell, hiddenStateIn, batches, size);
    rnnActivation(fusedActivationFunction);
    return {
      output: { dimensions: sequenceShape(input.dimensions, units) },
      hiddenStateOut: { dimensions: [batches, units] },
    };
  },
  reference({ input, hiddenStateIn, timeMajor, fusedActivationFunction, asymmetricQuantizeInputs, ...cell }, outputs) {
    return runRnnSequence({
      cell,
      activate: rnnActivation(fusedActivationFunction),
      input,
      timeMajor,
      stateIn: hiddenStateIn,
      output: outputs.output,
      stateOut: outputs.hiddenStateOut,
      product: rnnProduct(input, cell.weights, asymmetricQuantizeInputs),
    });
  },
});
