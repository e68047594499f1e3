/**
 * RNN: one step of a basic recurrent cell. Both outputs are the new hidden state.
 */
import { OperationType } from "@nnhal/types";
import { activationFunction } from "../activation.ts";
import { defineOperation } from "../define.ts";
import { int32, tensor } from "../params.ts";
import { recurrentWork } from "../work.ts";
import { rnnStep, rnnUnits } from "./_rnn.ts";
import { uniformRow } from "./_types.ts";

const params = [
  tensor("input"),
  tensor("weights"),
  tensor("recurrentWeights"),
  tensor("bias"),
  tensor("hiddenStateIn"),
  int32("activation"),
] as const;
const outputs = [tensor("hiddenStateOut"), tensor("output")] as const;

export const rnn = defineOperation({
  name: "RNN",
  code: OperationType.RNN,
  summary: "One step of a basic recurrent cell.",
  params,
  outputs,
  types: [
    uniformRow("1.0", [...params, ...outputs], "TENSOR_FLOAT32", "FLOAT32"),
    uniformRow("1.2", [...params, ...outputs], "TENSOR_FLOAT16", "FLOAT16"),
  ],
  ranks: { input: 2, weights: 2, recurrentWeights: 2, bias: 1, hiddenStateIn: 2 },
  work: recurrentWork,
  infer({ input, hiddenStateIn, ...cell }) {
    const [batches, inputs] = input.dimensions;
    const dimensions = [batches, rnnUnits(cell, hiddenStateIn, batches, inputs)];
    return { hiddenStateOut: { dimensions }, output: { dimensions } };
  },
  *reference({ input, hiddenStateIn, activation, ...cell }, { hiddenStateOut, output }) {
    const [batches, inputs] = input.dimensions;
    const [units] = cell.weights.dimensions;
    const step = rnnStep(cell, activationFunction(activation));
    for (let batch = 0; batch < batches; batch++) {
      const state = Float64Array.from(hiddenStateIn.data.subarray(batch * units, (batch + 1) * units));
      yield* step({ data: input.data, offset: batch * inputs }, undefined, state);
      hiddenStateOut.data.set(state, batch * units);
      output.data.set(state, batch * units);
      yield;
    }
  },
});
