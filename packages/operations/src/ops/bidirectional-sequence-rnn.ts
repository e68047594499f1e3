/**
 * BIDIRECTIONAL_SEQUENCE_RNN: two basic recurrent cells run along time, one forwards and one backwards. The auxiliary
 * input works as in BIDIRECTIONAL_SEQUENCE_LSTM.
 */
import { OperationType } from "@nnhal/types";
import { activationFunction } from "../activation.ts";
import { alternative, defineOperation } from "../define.ts";
import { bool, int32, omittable, tensor, trailing } from "../params.ts";
import { recurrentWork } from "../work.ts";
import { linkAuxiliary } from "./_auxiliary.ts";
import { rnnUnits, runRnnSequence } from "./_rnn.ts";
import { sequenceOf, sequenceShape } from "./_sequence.ts";
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

const states = [trailing("1.3", tensor("fwHiddenStateOut")), trailing("1.3", tensor("bwHiddenStateOut"))] as const;
const outputs = [tensor("fwOutput"), trailing("1.2", tensor("bwOutput")), ...states] as const;
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
  infer({ input, auxiliaryInput, timeMajor, mergeOutputs, ...args }) {
    const { bwInput, auxiliary } = linkAuxiliary(
      input,
      auxiliaryInput,
      args.fwAuxiliaryWeights,
      args.bwAuxiliaryWeights,
    );
    const { batches } = sequenceOf(input.dimensions, timeMajor);
    const { forward, backward } = cells(args);
    const auxiliaries = auxiliary?.dimensions[2];
    const fw = rnnUnits(forward, args.fwHiddenStateIn, batches, input.dimensions[2], auxiliaries);
    const bw = rnnUnits(backward, args.bwHiddenStateIn, batches, bwInput.dimensions[2], auxiliaries);
    return {
      fwOutput: { dimensions: sequenceShape(input.dimensions, fw + (mergeOutputs ? bw : 0)) },
      bwOutput: { dimensions: sequenceShape(input.dimensions, bw) },
      fwHiddenStateOut: { dimensions: [batches, fw] },
      bwHiddenStateOut: { dimensions: [batches, bw] },
    };
  },
  *reference({ input, auxiliaryInput, timeMajor, mergeOutputs, activation, ...args }, out) {
    const { bwInput, auxiliary } = linkAuxiliary(
      input,
      auxiliaryInput,
      args.fwAuxiliaryWeights,
      args.bwAuxiliaryWeights,
    );
    const { forward, backward } = cells(args);
    const shared = { activate: activationFunction(activation), auxiliary, timeMajor };
    yield* runRnnSequence({
      ...shared,
      cell: forward,
      input,
      stateIn: args.fwHiddenStateIn,
      output: out.fwOutput,
      stateOut: out.fwHiddenStateOut,
    });
    yield* runRnnSequence({
      ...shared,
      cell: backward,
      input: bwInput,
      backwards: true,
      stateIn: args.bwHiddenStateIn,
      output: mergeOutputs ? out.fwOutput : (out.bwOutput ?? out.fwOutput),
      outputOffset: mergeOutputs ? forward.weights.dimensions[0] : 0,
      stateOut: out.bwHiddenStateOut,
    });
  },
});

/** The two cells by the names of one. */
function cells<T>(args: {
  readonly fwWeights: T;
  readonly fwRecurrentWeights: T;
  readonly fwBias: T;
  readonly fwAuxiliaryWeights: T | undefined;
  readonly bwWeights: T;
  readonly bwRecurrentWeights: T;
  readonly bwBias: T;
  readonly bwAuxiliaryWeights: T | undefined;
}) {
  return {
    forward: {
      weights: args.fwWeights,
      recurrentWeights: args.fwRecurrentWeights,
      bias: args.fwBias,
      auxiliaryWeights: args.fwAuxiliaryWeights,
    },
    backward: {
      weights: args.bwWeights,
      recurrentWeights: args.bwRecurrentWeights,
      bias: args.bwBias,
      auxiliaryWeights: args.bwAuxiliaryWeights,
    },
  };
}
