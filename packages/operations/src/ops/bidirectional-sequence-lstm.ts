/**
 * BIDIRECTIONAL_SEQUENCE_LSTM: two cells run along time, one forwards and one backwards. An auxiliary input is for
 * stacked layers: with auxiliary weights both cells read it beside the input (cross-linking); without them the backward cell reads it
 * instead of the input (parallel linking, since HAL 1.3).
 */
import { OperationType } from "@nnhal/types";
import { alternative, defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { bool, int32, omittable, tensor, trailing } from "../params.ts";
import { ensureShape } from "../shape.ts";
import type { TensorInfo } from "../tensor.ts";
import { recurrentWork } from "../work.ts";
import { linkAuxiliary } from "./_auxiliary.ts";
import { ensureSettings, type LstmCell, type LstmOperands, lstmCell, lstmSizes } from "./_lstm.ts";
import { lstmClips } from "./_lstm-params.ts";
import { runLstmSequence } from "./_lstm-sequence.ts";
import { sequenceOf, sequenceShape } from "./_sequence.ts";
import { uniformRow } from "./_types.ts";

/** The operands of one direction, in the groups that alternate with those of the other. */
const paramsOf = <const Prefix extends "fw" | "bw">(prefix: Prefix) =>
  ({
    cell: [
      omittable(tensor(`${prefix}InputToInputWeights`)),
      tensor(`${prefix}InputToForgetWeights`),
      tensor(`${prefix}InputToCellWeights`),
      tensor(`${prefix}InputToOutputWeights`),
      omittable(tensor(`${prefix}RecurrentToInputWeights`)),
      tensor(`${prefix}RecurrentToForgetWeights`),
      tensor(`${prefix}RecurrentToCellWeights`),
      tensor(`${prefix}RecurrentToOutputWeights`),
      omittable(tensor(`${prefix}CellToInputWeights`)),
      omittable(tensor(`${prefix}CellToForgetWeights`)),
      omittable(tensor(`${prefix}CellToOutputWeights`)),
      omittable(tensor(`${prefix}InputGateBias`)),
      tensor(`${prefix}ForgetGateBias`),
      tensor(`${prefix}CellBias`),
      tensor(`${prefix}OutputGateBias`),
      omittable(tensor(`${prefix}ProjectionWeights`)),
      omittable(tensor(`${prefix}ProjectionBias`)),
    ],
    states: [tensor(`${prefix}OutputStateIn`), tensor(`${prefix}CellStateIn`)],
    auxiliary: [
      omittable(tensor(`${prefix}AuxiliaryToInputWeights`)),
      omittable(tensor(`${prefix}AuxiliaryToForgetWeights`)),
      omittable(tensor(`${prefix}AuxiliaryToCellWeights`)),
      omittable(tensor(`${prefix}AuxiliaryToOutputWeights`)),
    ],
    layerNorm: [
      omittable(tensor(`${prefix}InputLayerNormWeights`)),
      omittable(tensor(`${prefix}ForgetLayerNormWeights`)),
      omittable(tensor(`${prefix}CellLayerNormWeights`)),
      omittable(tensor(`${prefix}OutputLayerNormWeights`)),
    ],
    statesOut: [trailing("1.3", tensor(`${prefix}OutputStateOut`)), trailing("1.3", tensor(`${prefix}CellStateOut`))],
  }) as const;

const fw = paramsOf("fw");
const bw = paramsOf("bw");

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
const outputs = [tensor("fwOutput"), trailing("1.2", tensor("bwOutput")), ...states] as const;
/** Merged outputs have no second one. */
const mergedOutputs = [tensor("fwOutput"), ...states] as const;

type Args<T extends TensorInfo> = Readonly<Record<string, T | number | boolean | undefined>>;

/** The operands of one direction, by their names in LSTM. */
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
    const ahead = lstmSizes(forward, input.dimensions[2], auxiliary?.dimensions[2]);
    const behind = lstmSizes(backward, bwInput.dimensions[2], auxiliary?.dimensions[2]);
    ensureShape("the forward output states", args.fwOutputStateIn, [batches, ahead.outputs]);
    ensureShape("the forward cell states", args.fwCellStateIn, [batches, ahead.units]);
    ensureShape("the backward output states", args.bwOutputStateIn, [batches, behind.outputs]);
    ensureShape("the backward cell states", args.bwCellStateIn, [batches, behind.units]);
    ensureSettings(args);
    return {
      fwOutput: { dimensions: sequenceShape(input.dimensions, ahead.outputs + (mergeOutputs ? behind.outputs : 0)) },
      bwOutput: { dimensions: sequenceShape(input.dimensions, behind.outputs) },
      fwOutputStateOut: { dimensions: [batches, ahead.outputs] },
      fwCellStateOut: { dimensions: [batches, ahead.units] },
      bwOutputStateOut: { dimensions: [batches, behind.outputs] },
      bwCellStateOut: { dimensions: [batches, behind.units] },
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
