/**
 * BIDIRECTIONAL_SEQUENCE_RNN: two basic recurrent cells run along time, one forwards and one backwards. The auxiliary
 * input works as in BIDIRECTIONAL_SEQUENCE_LSTM.
 */
import { OperationType } from "@nnhal/types";
import { activationFunction } from "../activation.ts";
import { alternative, defineOperation } from "../define.ts";
import { bool, int32, omittable, omittableFrom, tensor } from "../params.ts";
import { recurrentWork } from "../work.ts";
import { inferRnnPair, runRnnPair } from "./_rnn-pair.ts";
import { uniformRow } from "./_types.ts";

const params = [
  tensor("input"),
  tensor("fwWeights"),
  tensor("fwRecurrentWeights"),
  tensor("fwBias"),
  tensor("fwHiddenStateIn"),
  tensor("bwWeights"),
  tensor("bwRecurrentWeights"),
  tensor("bwBias"),
  tensor("bwHiddenStateIn"),
  omittable(tensor("auxiliaryInput")),
  omittable(tensor("fwAuxiliaryWeights")),
  omittable(tensor("bwAuxiliaryWeights")),
  int32("activation"),
  bool("timeMajor"),
  bool("mergeOutputs"),
] as const;

const states = [
  omittableFrom("1.3", tensor("fwHiddenStateOut")),
  omittableFrom("1.3", tensor("bwHiddenStateOut")),
] as const;
const outputs = [tensor("fwOutput"), omittableFrom("1.2", tensor("bwOutput")), ...states] as const;
/** Merged outputs have no second one. */
const mergedOutputs = [tensor("fwOutput"), ...states] as const;

export const bidirectionalSequenceRnn = defineOperation({
  name: "BIDIRECTIONAL_SEQUENCE_RNN",
  code: OperationType.BIDIRECTIONAL_SEQUENCE_RNN,
  summary: "Two basic recurrent cells run along time, one forwards and one backwards.",
  params,
  outputs,
  types: [
    uniformRow("1.2", [...params, ...outputs], "TENSOR_FLOAT32", "FLOAT32"),
    uniformRow("1.2", [...params, ...outputs], "TENSOR_FLOAT16", "FLOAT16"),
  ],
  outputCounts: [2, 4],
  ranks: { input: 3, auxiliaryInput: 3 },
  alternatives: [
    alternative({
      params,
      outputs: mergedOutputs,
      types: [
        uniformRow("1.2", [...params, ...mergedOutputs], "TENSOR_FLOAT32", "FLOAT32"),
        uniformRow("1.2", [...params, ...mergedOutputs], "TENSOR_FLOAT16", "FLOAT16"),
      ],
      outputCounts: [1, 3],
      normalise: () => ({}),
      check: ({ mergeOutputs }) =>
        mergeOutputs === false ? "mergeOutputs is false, but the backward output is missing" : undefined,
    }),
  ],
  work: recurrentWork,
  check: ({ mergeOutputs }) =>
    mergeOutputs === true ? "mergeOutputs is true, but there is an output for the backward direction" : undefined,
  since: ({ auxiliaryInput, fwAuxiliaryWeights }) =>
    auxiliaryInput !== undefined && fwAuxiliaryWeights === undefined ? "1.3" : undefined,
  infer: inferRnnPair,
  reference: (args, out) => runRnnPair(args, out, { activate: activationFunction(args.activation) }),
});
