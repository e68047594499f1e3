/**
 * The common parts of the LSTM operators: their operand list, the types that they take, and the choice of the cell: float, hybrid or
 * integer.
 */

import { ensure } from "../fail.ts";
import type { AnyOperandType, AnyTensorData } from "../operand-type.ts";
import { bool, float32, int32, omittable, optional, tensor, wide } from "../params.ts";
import type { KernelResult } from "../phases.ts";
import { elementCount, type OutputTensor, type Tensor, type TensorInfo } from "../tensor.ts";
import { tfliteTypes } from "../tflite-types.ts";
import { realsOf } from "./_elements.tflite.ts";
import { hybridProduct, isHybrid, realWeights } from "./_hybrid.tflite.ts";
import { type IntegerSettings, runIntegerLstm } from "./_integer-lstm.tflite.ts";
import { ensureSettings, type LstmCell, type LstmOperands, lstmCell, lstmSizes } from "./_lstm.ts";
import { runLstmSequence } from "./_lstm-sequence.ts";
import { type Product, plainProduct } from "./_matrix.ts";
import { sequenceOf } from "./_sequence.ts";

/** The operator's 24 tensors in order. */
export const lstmTensors = [
  tensor("input"),
  omittable(tensor("inputToInputWeights")),
  tensor("inputToForgetWeights"),
  tensor("inputToCellWeights"),
  tensor("inputToOutputWeights"),
  omittable(tensor("recurrentToInputWeights")),
  tensor("recurrentToForgetWeights"),
  tensor("recurrentToCellWeights"),
  tensor("recurrentToOutputWeights"),
  omittable(tensor("cellToInputWeights")),
  omittable(tensor("cellToForgetWeights")),
  omittable(tensor("cellToOutputWeights")),
  omittable(wide(tensor("inputGateBias"))),
  wide(tensor("forgetGateBias")),
  wide(tensor("cellBias")),
  wide(tensor("outputGateBias")),
  omittable(tensor("projectionWeights")),
  omittable(wide(tensor("projectionBias"))),
  tensor("outputStateIn"),
  tensor("cellStateIn"),
  omittable(tensor("inputLayerNormWeights")),
  omittable(tensor("forgetLayerNormWeights")),
  omittable(tensor("cellLayerNormWeights")),
  omittable(tensor("outputLayerNormWeights")),
] as const;

/** Options that all LSTM operators have. A clip of 0 is off. */
export const lstmOptions = [int32("fusedActivationFunction"), float32("cellClip"), float32("projClip")] as const;

/**
 * The quantisation of values inside an integer cell, from the operator's intermediate tensors: the scales of the gates' sums before their
 * layer normalisation, and the quantisation of the result before its projection. A cell without these does not read them.
 */
export const lstmIntermediates = [
  optional("1.2", float32("inputIntermediateScale"), 0),
  optional("1.2", float32("forgetIntermediateScale"), 0),
  optional("1.2", float32("cellIntermediateScale"), 0),
  optional("1.2", float32("outputIntermediateScale"), 0),
  optional("1.2", int32("hiddenStateZeroPoint"), 0),
  optional("1.2", float32("hiddenStateScale"), 0),
] as const;

/** The results: the operator's own, then the new values of its variable tensors. */
export const lstmOutputs = [tensor("output"), tensor("outputStateOut"), tensor("cellStateOut")] as const;

/** Types of the activations, weights, peephole weights, biases, cell state and normalisation weights. */
type RowTypes = readonly [AnyOperandType, AnyOperandType, AnyOperandType, AnyOperandType, AnyOperandType];

/** The type row of an operand list. The normalisation weights have the type of the cell state. */
function rowOf([activation, weights, peephole, bias, memory]: RowTypes) {
  const gates = [weights, weights, weights, weights] as const;
  const biases = [bias, bias, bias, bias] as const;
  const norms = [memory, memory, memory, memory] as const;
  return [
    ...(["1.2", activation, ...gates, ...gates, peephole, peephole, peephole, ...biases, weights, bias] as const),
    ...([activation, memory, ...norms, activation, activation, memory] as const),
  ] as const;
}

const FLOAT32 = "TENSOR_FLOAT32";
const INT8 = "TENSOR_QUANT8_ASYMM_SIGNED";
const UINT8 = "TENSOR_QUANT8_ASYMM";
const INT16 = "TENSOR_QUANT16_SYMM";

/** Float, hybrid, and integer cells with 8-bit and with 16-bit activations. */
export const lstmTypes = [
  rowOf([FLOAT32, FLOAT32, FLOAT32, FLOAT32, FLOAT32]),
  rowOf([FLOAT32, INT8, INT8, FLOAT32, FLOAT32]),
  rowOf([FLOAT32, UINT8, UINT8, FLOAT32, FLOAT32]),
  rowOf([INT8, INT8, INT16, "TENSOR_INT32", INT16]),
  rowOf([INT16, INT8, INT16, tfliteTypes.TENSOR_INT64, INT16]),
];

/** The operands and options of an LSTM operator. `T`: a tensor at that stage. */
export interface LstmArgs<T extends TensorInfo> extends LstmOperands<T>, IntegerSettings {
  readonly input: T;
  readonly outputStateIn: T;
  readonly cellStateIn: T;
  readonly fusedActivationFunction: number;
  readonly asymmetricQuantizeInputs: boolean;
  /** Recurrent weights are the diagonals of matrices: [units]. */
  readonly diagonalRecurrentTensors: boolean;
}

/** The recurrent weights of a diagonal as the matrix that they stand for; its elements remain those of the diagonal. */
function asMatrix<T extends TensorInfo | undefined>(weights: T): T {
  if (weights?.dimensions.length !== 1) return weights;
  const [units] = weights.dimensions;
  return { ...weights, dimensions: [units, units] };
}

function cellOf<T extends TensorInfo>(args: LstmArgs<T>): LstmCell<T> {
  if (!args.diagonalRecurrentTensors) return lstmCell(args);
  return lstmCell({
    ...args,
    recurrentToInputWeights: asMatrix(args.recurrentToInputWeights),
    recurrentToForgetWeights: asMatrix(args.recurrentToForgetWeights),
    recurrentToCellWeights: asMatrix(args.recurrentToCellWeights),
    recurrentToOutputWeights: asMatrix(args.recurrentToOutputWeights),
  });
}

/** The shapes of the results. `dimensions`: those of the input as a sequence. */
export function inferLstm(args: LstmArgs<TensorInfo>, dimensions: readonly number[], timeMajor: boolean) {
  const { outputStateIn, cellStateIn } = args;
  const { batches, size } = sequenceOf(dimensions, timeMajor);
  const cell = cellOf(args);
  const { outputs, units } = lstmSizes(cell, size);
  ensureCount("output state", outputStateIn, batches * outputs);
  ensureCount("cell state", cellStateIn, batches * units);
  ensureSettings(settingsOf(args));
  if (args.input.type !== FLOAT32) ensureIntegerCell(cell, args);
  const keep = ({ dimensions, scale, zeroPoint }: TensorInfo) => ({ dimensions, scale, zeroPoint });
  return { outputs, outputStateOut: keep(outputStateIn), cellStateOut: keep(cellStateIn) };
}

/** Refuses what an integer cell lacks: the scales that its operands require, and recurrent weights that are a diagonal. */
function ensureIntegerCell(cell: LstmCell<TensorInfo>, args: LstmArgs<TensorInfo>): void {
  ensure(!args.diagonalRecurrentTensors, () => "diagonalRecurrentTensors is true, but the cell is an integer one");
  const scales = [
    ["inputIntermediateScale", cell.inputGate?.norm],
    ["forgetIntermediateScale", cell.forgetGate.norm],
    ["cellIntermediateScale", cell.cellGate.norm],
    ["outputIntermediateScale", cell.outputGate.norm],
    ["hiddenStateScale", cell.projection],
  ] as const;
  for (const [name, operand] of scales) {
    ensure(operand === undefined || args[name] > 0, () => `${name}: expected a number > 0, got ${args[name]}`);
  }
}

function ensureCount(what: string, state: TensorInfo, needed: number): void {
  const count = elementCount(state.dimensions);
  ensure(count === needed, () => `the ${what}: expected ${needed} elements, got ${count}`);
}

function settingsOf({ fusedActivationFunction, cellClip, projClip }: LstmArgs<TensorInfo>) {
  return { activation: fusedActivationFunction, cellClip, projectionClip: projClip };
}

/** The sequence that an LSTM operator runs along. */
export interface LstmRun {
  readonly input: Tensor;
  readonly timeMajor: boolean;
  readonly output: OutputTensor;
  readonly outputStateOut: OutputTensor;
  readonly cellStateOut: OutputTensor;
}

/** Runs a cell of any kind along time. */
export function runLstm(args: LstmArgs<Tensor<AnyTensorData>>, run: LstmRun): KernelResult {
  // Only biases may have 64 bits. All other elements are numbers, although their type was erased.
  const numbers = withNumericBiases(args) as LstmArgs<Tensor>;
  const cell = cellOf(numbers);
  if (run.input.type !== FLOAT32) return runIntegerLstm(cell, numbers, run);
  const product = isHybrid(run.input, cell.outputGate.input)
    ? hybridProduct(args.asymmetricQuantizeInputs)
    : plainProduct;
  return runLstmSequence({
    ...run,
    cell: realPeepholes(cell),
    settings: settingsOf(args),
    outputStateIn: numbers.outputStateIn,
    cellStateIn: numbers.cellStateIn,
    product: args.diagonalRecurrentTensors ? diagonalProduct(product) : product,
  });
}

function withNumericBiases(args: LstmArgs<Tensor<AnyTensorData>>) {
  const numeric = <T extends Tensor<AnyTensorData> | undefined>(bias: T) =>
    bias && { ...bias, data: realsOf({ ...bias, scale: 1, zeroPoint: 0 }) };
  return {
    ...args,
    inputGateBias: numeric(args.inputGateBias),
    forgetGateBias: numeric(args.forgetGateBias),
    cellBias: numeric(args.cellBias),
    outputGateBias: numeric(args.outputGateBias),
    projectionBias: numeric(args.projectionBias),
  };
}

/** Peephole weights are multiplied element by element, with real numbers even in a hybrid cell. */
export function realPeepholes(cell: LstmCell): LstmCell {
  const real = <G extends LstmCell["inputGate"]>(gate: G): G =>
    gate?.cell ? { ...gate, cell: realWeights(gate.cell) } : gate;
  return {
    ...cell,
    inputGate: real(cell.inputGate),
    forgetGate: real(cell.forgetGate),
    outputGate: real(cell.outputGate),
  };
}

/** Multiplies with a matrix: with one stored as its diagonal directly, with any other by `product`. */
function diagonalProduct(product: Product): Product {
  return (result, weights, vector, offset) => {
    const [rows, columns] = weights.dimensions;
    if (weights.data.length === rows * columns) {
      product(result, weights, vector, offset);
      return;
    }
    const { data } = realWeights(weights);
    for (let row = 0; row < rows; row++) result[row] += data[row] * vector[offset + row];
  };
}

/** Options that only some of the operators have. */
export const asymmetricQuantizeInputs = bool("asymmetricQuantizeInputs");
