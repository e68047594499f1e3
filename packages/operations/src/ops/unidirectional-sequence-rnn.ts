/**
 * UNIDIRECTIONAL_SEQUENCE_RNN: a basic recurrent cell run along time. `timeMajor` is an INT32 here.
 */
import { OperationType } from "@nnhal/types";
import { activationFunction } from "../activation.ts";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { int32, omittableFrom, tensor } from "../params.ts";
import { recurrentWork } from "../work.ts";
import { rnnUnits, runRnnSequence } from "./_rnn.ts";
import { sequenceOf, sequenceShape } from "./_sequence.ts";
import { uniformRow } from "./_types.ts";

const params = [
  tensor("input"),
  tensor("weights"),
  tensor("recurrentWeights"),
  tensor("bias"),
  tensor("hiddenStateIn"),
  int32("activation"),
  int32("timeMajor"),
] as const;
const outputs = [tensor("output"), omittableFrom("1.3", tensor("hiddenStateOut"))] as const;

export const unidirectionalSequenceRnn = defineOperation({
  name: "UNIDIRECTIONAL_SEQUENCE_RNN",
  code: OperationType.UNIDIRECTIONAL_SEQUENCE_RNN,
  summary: "A basic recurrent cell run along time.",
  params,
  outputs,
  types: [
    uniformRow("1.2", [...params, ...outputs], "TENSOR_FLOAT32", "FLOAT32"),
    uniformRow("1.2", [...params, ...outputs], "TENSOR_FLOAT16", "FLOAT16"),
  ],
  ranks: { input: 3, weights: 2, recurrentWeights: 2, bias: 1, hiddenStateIn: 2 },
  work: recurrentWork,
  infer({ input, hiddenStateIn, timeMajor, ...cell }) {
    ensure(timeMajor === 0 || timeMajor === 1, () => `timeMajor: expected 0 or 1, got ${timeMajor}`);
    const { batches, size } = sequenceOf(input.dimensions, timeMajor === 1);
    const units = rnnUnits(cell, hiddenStateIn, batches, size);
    return {
      output: { dimensions: sequenceShape(input.dimensions, units) },
      hiddenStateOut: { dimensions: [batches, units] },
    };
  },
  reference({ input, hiddenStateIn, activation, timeMajor, ...cell }, { output, hiddenStateOut }) {
    return runRnnSequence({
      cell,
      activate: activationFunction(activation),
      input,
      timeMajor: timeMajor === 1,
      stateIn: hiddenStateIn,
      output,
      stateOut: hiddenStateOut,
    });
  },
});
