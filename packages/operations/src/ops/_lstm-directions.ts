/**
 * The common parts of the two-way LSTM operations: the operands of a direction, the shapes, and the run of both cells along time. An
 * auxiliary input is for stacked layers: with auxiliary weights both cells read it beside the input (cross-linking); without them the
 * backward cell reads it instead of the input (parallel linking).
 */
import { ensure } from "../fail.ts";
import { omittable, omittableFrom, tensor } from "../params.ts";
import type { Phase } from "../phases.ts";
import { ensureShape } from "../shape.ts";
import type { OutputTensor, Tensor, TensorInfo } from "../tensor.ts";
import { linkAuxiliary } from "./_auxiliary.ts";
import { ensureSettings, type LstmCell, type LstmOperands, type LstmSettings, lstmCell, lstmSizes } from "./_lstm.ts";
import { runLstmSequence } from "./_lstm-sequence.ts";
import type { Product } from "./_matrix.ts";
import { sequenceOf, sequenceShape } from "./_sequence.ts";

/** The operands of one direction, in the groups that alternate with those of the other. */
export const lstmDirectionParams = <const Prefix extends "fw" | "bw">(prefix: Prefix) =>
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
    statesOut: [
      omittableFrom("1.3", tensor(`${prefix}OutputStateOut`)),
      omittableFrom("1.3", tensor(`${prefix}CellStateOut`)),
    ],
  }) as const;

/** The operands of both directions. A layer without normalisation need not have its weights. */
export type Directions<T> = { readonly [Name in `${"fw" | "bw"}${DirectionNames}`]: T | undefined } & {
  readonly [Name in `${"fw" | "bw"}${NormNames}`]?: T | undefined;
};

/** The cell of one direction. */
function direction<T extends TensorInfo>(args: Directions<T>, prefix: "fw" | "bw"): LstmCell<T> {
  const requireValue = (name: RequiredNames): T => {
    const tensorArg = args[`${prefix}${name}`];
    ensure(tensorArg !== undefined, () => `${prefix}${name} is omitted`);
    return tensorArg;
  };
  const operands: LstmOperands<T> = {
    inputToInputWeights: args[`${prefix}InputToInputWeights`],
    inputToForgetWeights: requireValue("InputToForgetWeights"),
    inputToCellWeights: requireValue("InputToCellWeights"),
    inputToOutputWeights: requireValue("InputToOutputWeights"),
    recurrentToInputWeights: args[`${prefix}RecurrentToInputWeights`],
    recurrentToForgetWeights: requireValue("RecurrentToForgetWeights"),
    recurrentToCellWeights: requireValue("RecurrentToCellWeights"),
    recurrentToOutputWeights: requireValue("RecurrentToOutputWeights"),
    cellToInputWeights: args[`${prefix}CellToInputWeights`],
    cellToForgetWeights: args[`${prefix}CellToForgetWeights`],
    cellToOutputWeights: args[`${prefix}CellToOutputWeights`],
    inputGateBias: args[`${prefix}InputGateBias`],
    forgetGateBias: requireValue("ForgetGateBias"),
    cellBias: requireValue("CellBias"),
    outputGateBias: requireValue("OutputGateBias"),
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
  | `AuxiliaryTo${"Input" | "Forget" | "Cell" | "Output"}Weights`;
type NormNames = `${"Input" | "Forget" | "Cell" | "Output"}LayerNormWeights`;

/** The operands and options of a two-way LSTM operation. `T`: a tensor at that stage. */
export type TwoWayLstmArgs<T extends TensorInfo> = LstmSettings &
  Directions<T> & { readonly [Name in `${"fw" | "bw"}${"Output" | "Cell"}StateIn`]: T } & {
    readonly input: T;
    readonly auxiliaryInput: T | undefined;
    readonly timeMajor: boolean;
    readonly mergeOutputs: boolean;
  };

/** The results of a two-way LSTM operation. */
export type TwoWayLstmOutputs = {
  readonly fwOutput: OutputTensor;
  readonly bwOutput?: OutputTensor | undefined;
} & { readonly [Name in `${"fw" | "bw"}${"Output" | "Cell"}StateOut`]?: OutputTensor | undefined };

function linkCells<T extends TensorInfo>(args: TwoWayLstmArgs<T>) {
  const forward = direction(args, "fw");
  const backward = direction(args, "bw");
  const weights = [forward.forgetGate.auxiliary, backward.forgetGate.auxiliary] as const;
  return { forward, backward, ...linkAuxiliary(args.input, args.auxiliaryInput, ...weights) };
}

/** The shapes of the results. */
export function inferTwoWayLstm(args: TwoWayLstmArgs<TensorInfo>) {
  const { input, timeMajor, mergeOutputs } = args;
  const { forward, backward, bwInput, auxiliary } = linkCells(args);
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
}

/** Options of the cells of a run. Defaults: those of real numbers. */
export interface TwoWayLstmKernel {
  readonly product?: Product;
  /** Changes a cell before it runs. */
  prepare?(cell: LstmCell): LstmCell;
}

/** Runs both cells along time. */
export function runTwoWayLstm(
  args: TwoWayLstmArgs<Tensor>,
  out: TwoWayLstmOutputs,
  { product, prepare = (cell) => cell }: TwoWayLstmKernel = {},
): readonly Phase[] {
  const { input, timeMajor, mergeOutputs } = args;
  const { forward, backward, bwInput, auxiliary } = linkCells(args);
  const shared = { settings: args, auxiliary, timeMajor, product };
  const { outputs: forwardOutputs } = lstmSizes(forward, input.dimensions[2]);
  const forwards = runLstmSequence({
    ...shared,
    cell: prepare(forward),
    input,
    outputStateIn: args.fwOutputStateIn,
    cellStateIn: args.fwCellStateIn,
    output: out.fwOutput,
    outputStateOut: out.fwOutputStateOut,
    cellStateOut: out.fwCellStateOut,
  });
  const backwards = runLstmSequence({
    ...shared,
    cell: prepare(backward),
    input: bwInput,
    backwards: true,
    outputStateIn: args.bwOutputStateIn,
    cellStateIn: args.bwCellStateIn,
    output: mergeOutputs ? out.fwOutput : (out.bwOutput ?? out.fwOutput),
    outputOffset: mergeOutputs ? forwardOutputs : 0,
    outputStateOut: out.bwOutputStateOut,
    cellStateOut: out.bwCellStateOut,
  });
  return [...forwards, ...backwards];
}
