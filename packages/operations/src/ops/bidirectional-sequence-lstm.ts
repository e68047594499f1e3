/**
 * BIDIRECTIONAL_SEQUENCE_LSTM: two cells run along time, one forwards and one backwards. Parallel linking (see `_lstm-directions.ts`) is
 * of HAL 1.3.
 */
import { OperationType } from "@nnhal/types";
import { alternative, defineOperation } from "../define.ts";
import { bool, int32, omittable, omittableFrom, tensor } from "../params.ts";
import { recurrentWork } from "../work.ts";
import { inferTwoWayLstm, lstmDirectionParams, runTwoWayLstm } from "./_lstm-directions.ts";
import { lstmClips } from "./_lstm-params.ts";
import { uniformRow } from "./_types.ts";

const fw = lstmDirectionParams("fw");
const bw = lstmDirectionParams("bw");

const params = [
  tensor("input"),
  ...fw.cell,
  ...bw.cell,
  ...fw.states,
  ...bw.states,
  omittable(tensor("auxiliaryInput")),
  ...fw.auxiliary,
  ...bw.auxiliary,
  int32("activation"),
  ...lstmClips,
  bool("mergeOutputs"),
  bool("timeMajor"),
  ...fw.layerNorm,
  ...bw.layerNorm,
] as const;

const states = [...fw.statesOut, ...bw.statesOut] as const;
const outputs = [tensor("fwOutput"), omittableFrom("1.2", tensor("bwOutput")), ...states] as const;
/** Merged outputs have no second one. */
const mergedOutputs = [tensor("fwOutput"), ...states] as const;

const types = [
  uniformRow("1.2", [...params, ...outputs], "TENSOR_FLOAT32", "FLOAT32"),
  uniformRow("1.2", [...params, ...outputs], "TENSOR_FLOAT16", "FLOAT16"),
];
const mergedTypes = [
  uniformRow("1.2", [...params, ...mergedOutputs], "TENSOR_FLOAT32", "FLOAT32"),
  uniformRow("1.2", [...params, ...mergedOutputs], "TENSOR_FLOAT16", "FLOAT16"),
];

export const bidirectionalSequenceLstm = defineOperation({
  name: "BIDIRECTIONAL_SEQUENCE_LSTM",
  code: OperationType.BIDIRECTIONAL_SEQUENCE_LSTM,
  summary: "Two long short-term memory cells run along time, one forwards and one backwards.",
  params,
  outputs,
  types,
  outputCounts: [2, 6],
  ranks: { input: 3, auxiliaryInput: 3 },
  alternatives: [
    alternative({
      params,
      outputs: mergedOutputs,
      types: mergedTypes,
      outputCounts: [1, 5],
      normalise: () => ({}),
      check: ({ mergeOutputs }) =>
        mergeOutputs === false ? "mergeOutputs is false, but the backward output is missing" : undefined,
    }),
  ],
  work: recurrentWork,
  check: ({ mergeOutputs }) =>
    mergeOutputs === true ? "mergeOutputs is true, but there is an output for the backward direction" : undefined,
  since: ({ auxiliaryInput, fwAuxiliaryToForgetWeights }) =>
    auxiliaryInput !== undefined && fwAuxiliaryToForgetWeights === undefined ? "1.3" : undefined,
  infer: inferTwoWayLstm,
  reference: (args, out) => runTwoWayLstm(args, out),
});
