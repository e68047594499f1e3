/**
 * BIDIRECTIONAL_SEQUENCE_LSTM: two cells run along time, one forwards and one backwards. An auxiliary input serves
 * stacked layers: with auxiliary weights both cells see it beside the input (cross-linking); without, it is what the
 * backward cell sees instead of the input (parallel linking, since HAL 1.3).
 */
import { OperationType } from "@nnhal/types";
import { alternative, defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { bool, int32, omittable, tensor, trailing } from "../params.ts";
import { ensureShape } from "../shape.ts";
import type { TensorInfo } from "../tensor.ts";
import { linkAuxiliary } from "./_auxiliary.ts";
import { ensureSettings, type LstmCell, type LstmOperands, lstmCell, lstmSizes } from "./_lstm.ts";
import { lstmClips } from "./_lstm-params.ts";
import { runLstmSequence } from "./_lstm-sequence.ts";
import { sequenceOf, sequenceShape } from "./_sequence.ts";
import { uniformRow } from "./_types.ts";

const params = [
  tensor("input"),
  omittable(tensor("fwInputToInputWeights")),
  tensor("fwInputToForgetWeights"),
  tensor("fwInputToCellWeights"),
  tensor("fwInputToOutputWeights"),
  omittable(tensor("fwRecurrentToInputWeights")),
  tensor("fwRecurrentToForgetWeights"),
  tensor("fwRecurrentToCellWeights"),
  tensor("fwRecurrentToOutputWeights"),
  omittable(tensor("fwCellToInputWeights")),
  omittable(tensor("fwCellToForgetWeights")),
  omittable(tensor("fwCellToOutputWeights")),
  omittable(tensor("fwInputGateBias")),
  tensor("fwForgetGateBias"),
  tensor("fwCellBias"),
  tensor("fwOutputGateBias"),
  omittable(tensor("fwProjectionWeights")),
  omittable(tensor("fwProjectionBias")),
  omittable(tensor("bwInputToInputWeights")),
  tensor("bwInputToForgetWeights"),
  tensor("bwInputToCellWeights"),
  tensor("bwInputToOutputWeights"),
  omittable(tensor("bwRecurrentToInputWeights")),
  tensor("bwRecurrentToForgetWeights"),
  tensor("bwRecurrentToCellWeights"),
  tensor("bwRecurrentToOutputWeights"),
  omittable(tensor("bwCellToInputWeights")),
  omittable(tensor("bwCellToForgetWeights")),
  omittable(tensor("bwCellToOutputWeights")),
  omittable(tensor("bwInputGateBias")),
  tensor("bwForgetGateBias"),
  tensor("bwCellBias"),
  tensor("bwOutputGateBias"),
  omittable(tensor("bwProjectionWeights")),
  omittable(tensor("bwProjectionBias")),
  tensor("fwOutputStateIn"),
  tensor("fwCellStateIn"),
  tensor("bwOutputStateIn"),
  tensor("bwCellStateIn"),
  omittable(tensor("auxiliaryInput")),
  omittable(tensor("fwAuxiliaryToInputWeights")),
  omittable(tensor("fwAuxiliaryToForgetWeights")),
  omittable(tensor("fwAuxiliaryToCellWeights")),
  omittable(tensor("fwAuxiliaryToOutputWeights")),
  omittable(tensor("bwAuxiliaryToInputWeights")),
  omittable(tensor("bwAuxiliaryToForgetWeights")),
  omittable(tensor("bwAuxiliaryToCellWeights")),
  omittable(tensor("bwAuxiliaryToOutputWeights")),
  int32("activation"),
  ...lstmClips,
  bool("mergeOutputs"),
  bool("timeMajor"),
  omittable(tensor("fwInputLayerNormWeights")),
  omittable(tensor("fwForgetLayerNormWeights")),
  omittable(tensor("fwCellLayerNormWeights")),
  omittable(tensor("fwOutputLayerNormWeights")),
  omittable(tensor("bwInputLayerNormWeights")),
  omittable(tensor("bwForgetLayerNormWeights")),
  omittable(tensor("bwCellLayerNormWeights")),
  omittable(tensor("bwOutputLayerNormWeights")),
] as const;

const states = [
  trailing("1.3", tensor("fwOutputStateOut")),
  trailing("1.3", tensor("fwCellStateOut")),
  trailing("1.3", tensor("bwOutputStateOut")),
  trailing("1.3", tensor("bwCellStateOut")),
] as const;
const outputs = [tensor("fwOutput"), trailing("1.2", tensor("bwOutput")), ...states] as const;
/** Where the outputs are merged there is no second one. */
const mergedOutputs = [tensor("fwOutput"), ...states] as const;

type Args<T extends TensorInfo> = Readonly<Record<string, T | number | boolean | undefined>>;

/** The operands of one direction, by the names that LSTM gives them. */
function direction<T extends TensorInfo>(
  args: Args<T> & { readonly [Name in `${"fw" | "bw"}${DirectionNames}`]: T | undefined },
  prefix: "fw" | "bw",
): LstmCell<T> {
  const required = (name: RequiredNames): T => {
    const tensorArg = args[`${prefix}${name}`];
    ensure(tensorArg !== undefined, () => `${prefix}${name} is omitted`);
    return tensorArg;
  };
  const operands: LstmOperands<T> = {
    inputToInputWeights: args[`${prefix}InputToInputWeights`],
    inputToForgetWeights: required("InputToForgetWeights"),
    inputToCellWeights: required("InputToCellWeights"),
    inputToOutputWeights: required("InputToOutputWeights"),
    recurrentToInputWeights: args[`${prefix}RecurrentToInputWeights`],
    recurrentToForgetWeights: required("RecurrentToForgetWeights"),
    recurrentToCellWeights: required("RecurrentToCellWeights"),
    recurrentToOutputWeights: required("RecurrentToOutputWeights"),
    cellToInputWeights: args[`${prefix}CellToInputWeights`],
    cellToForgetWeights: args[`${prefix}CellToForgetWeights`],
    cellToOutputWeights: args[`${prefix}CellToOutputWeights`],
    inputGateBias: args[`${prefix}InputGateBias`],
    forgetGateBias: required("ForgetGateBias"),
    cellBias: required("CellBias"),
    outputGateBias: required("OutputGateBias"),
    projectionWeights: args[`${prefix}ProjectionWeights`],
    projectionBias: args[`${prefix}ProjectionBias`],
    inputLayerNormWeights: args[`${prefix}InputLayerNormWeights`],
    forgetLayerNormWeights: args[`${prefix}ForgetLayerNormWeights`],
    cellLayerNormWeights: args[`${prefix}CellLayerNormWeights`],
    outputLayerNormWeights: args[`${prefix}OutputLayerNormWeights`],
    auxiliaryToInputWeights: args[`${prefix}AuxiliaryToInputWeights`],
    auxiliaryToForgetWeights: args[`${prefix}AuxiliaryToForgetWeights`],
    auxiliaryToCellWeights: args[`${prefix}AuxiliaryToCellWeights`],
    auxiliaryToOutputWeights: args[`${prefix}AuxiliaryToOutputWeights`],
  };
  return lstmCell(operands);
}

type RequiredNames =
  | `${"InputTo" | "RecurrentTo"}${"Forget" | "Cell" | "Output"}Weights`
  | "ForgetGateBias"
  | "CellBias"
  | "OutputGateBias";
type DirectionNames =
  | RequiredNames
  | `${"InputTo" | "RecurrentTo" | "CellTo"}InputWeights`
  | `CellTo${"Forget" | "Output"}Weights`
  | "InputGateBias"
  | "ProjectionWeights"
  | "ProjectionBias"
  | `${"Input" | "Forget" | "Cell" | "Output"}LayerNormWeights`
  | `AuxiliaryTo${"Input" | "Forget" | "Cell" | "Output"}Weights`;

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
      normalise: (args) => args,
      check: ({ mergeOutputs }) =>
        mergeOutputs === false ? "mergeOutputs is false, but the backward output is missing" : undefined,
    }),
  ],
  check: ({ mergeOutputs }) =>
    mergeOutputs === true ? "mergeOutputs is true, but there is an output for the backward direction" : undefined,
  since: ({ auxiliaryInput, fwAuxiliaryToForgetWeights }) =>
    auxiliaryInput !== undefined && fwAuxiliaryToForgetWeights === undefined ? "1.3" : undefined,
  infer({ input, auxiliaryInput, timeMajor, mergeOutputs, ...args }) {
    const forward = direction(args, "fw");
    const backward = direction(args, "bw");
    const { bwInput, auxiliary } = linkAuxiliary(
      input,
      auxiliaryInput,
      forward.forgetGate.auxiliary,
      backward.forgetGate.auxiliary,
    );
    const { batches } = sequenceOf(input.dimensions, timeMajor);
    const fw = lstmSizes(forward, input.dimensions[2], auxiliary?.dimensions[2]);
    const bw = lstmSizes(backward, bwInput.dimensions[2], auxiliary?.dimensions[2]);
    ensureShape("the forward output states", args.fwOutputStateIn, [batches, fw.outputs]);
    ensureShape("the forward cell states", args.fwCellStateIn, [batches, fw.units]);
    ensureShape("the backward output states", args.bwOutputStateIn, [batches, bw.outputs]);
    ensureShape("the backward cell states", args.bwCellStateIn, [batches, bw.units]);
    ensureSettings(args);
    return {
      fwOutput: { dimensions: sequenceShape(input.dimensions, fw.outputs + (mergeOutputs ? bw.outputs : 0)) },
      bwOutput: { dimensions: sequenceShape(input.dimensions, bw.outputs) },
      fwOutputStateOut: { dimensions: [batches, fw.outputs] },
      fwCellStateOut: { dimensions: [batches, fw.units] },
      bwOutputStateOut: { dimensions: [batches, bw.outputs] },
      bwCellStateOut: { dimensions: [batches, bw.units] },
    };
  },
  *reference({ input, auxiliaryInput, timeMajor, mergeOutputs, ...args }, out) {
    const forward = direction(args, "fw");
    const backward = direction(args, "bw");
    const { bwInput, auxiliary } = linkAuxiliary(
      input,
      auxiliaryInput,
      forward.forgetGate.auxiliary,
      backward.forgetGate.auxiliary,
    );
    const shared = { settings: args, auxiliary, timeMajor };
    yield* runLstmSequence({
      ...shared,
      cell: forward,
      input,
      outputStateIn: args.fwOutputStateIn,
      cellStateIn: args.fwCellStateIn,
      output: out.fwOutput,
      outputStateOut: out.fwOutputStateOut,
      cellStateOut: out.fwCellStateOut,
    });
    const { outputs: forwardOutputs } = lstmSizes(forward, input.dimensions[2]);
    yield* runLstmSequence({
      ...shared,
      cell: backward,
      input: bwInput,
      backwards: true,
      outputStateIn: args.bwOutputStateIn,
      cellStateIn: args.bwCellStateIn,
      output: mergeOutputs ? out.fwOutput : (out.bwOutput ?? out.fwOutput),
      outputOffset: mergeOutputs ? forwardOutputs : 0,
      outputStateOut: out.bwOutputStateOut,
      cellStateOut: out.bwCellStateOut,
    });
  },
});
