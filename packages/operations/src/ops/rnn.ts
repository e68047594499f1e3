/**
 * RNN: one step of a basic recurrent cell. Both outputs are the new hidden state.
 */
import { OperationType } from "@nnhal/types";
import { activationFunction } from "../activation.ts";
import { defineOperation } from "../define.ts";
import { int32, tensor } from "../params.ts";
import type { TensorInfo } from "../tensor.ts";
import { recurrentWork } from "../work.ts";
import { rnnUnits, runRnnSequence } from "./_rnn.ts";
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
  reference({ input, hiddenStateIn, activation, ...cell }, { hiddenStateOut, output }) {
    // A sequence of one step.
    const once = <T extends TensorInfo>(tensor: T) => ({ ...tensor, dimensions: [1, ...tensor.dimensions] });
    return runRnnSequence({
      cell,
      activate: activationFunction(activation),
      input: once(input),
      timeMajor: true,
      stateIn: hiddenStateIn,
      output: once(output),
      stateOut: hiddenStateOut,
    });
  },
});
