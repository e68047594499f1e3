/**
 * The time of an operation on a device of performance 1, the reference: its amount of work of each kind, times the cost
 * of that kind.
 */
import { elementAt } from "@nnhal/operations";
import { type Operand, OperandType, OperationType, type Subgraph } from "@nnhal/types";
import type { CostModel } from "./policy.ts";

const convolutions = new Set<number>([
  OperationType.CONV_2D,
  OperationType.FULLY_CONNECTED,
  OperationType.GROUPED_CONV_2D,
  OperationType.TRANSPOSE_CONV_2D,
]);

const recurrent = new Set<number>([
  OperationType.BIDIRECTIONAL_SEQUENCE_LSTM,
  OperationType.BIDIRECTIONAL_SEQUENCE_RNN,
  OperationType.LSTM,
  OperationType.QUANTIZED_16BIT_LSTM,
  OperationType.QUANTIZED_LSTM,
  OperationType.RNN,
  OperationType.SVDF,
  OperationType.UNIDIRECTIONAL_SEQUENCE_LSTM,
  OperationType.UNIDIRECTIONAL_SEQUENCE_RNN,
]);

/** Operations that compute a function of each element, or read many for each. */
const functions = new Set<number>([
  OperationType.AVERAGE_POOL_2D,
  OperationType.ELU,
  OperationType.EXP,
  OperationType.INSTANCE_NORMALIZATION,
  OperationType.L2_NORMALIZATION,
  OperationType.L2_POOL_2D,
  OperationType.LOCAL_RESPONSE_NORMALIZATION,
  OperationType.LOG,
  OperationType.LOGISTIC,
  OperationType.LOG_SOFTMAX,
  OperationType.MAX_POOL_2D,
  OperationType.POW,
  OperationType.RESIZE_BILINEAR,
  OperationType.RSQRT,
  OperationType.SIN,
  OperationType.SOFTMAX,
  OperationType.SQRT,
  OperationType.TANH,
]);

const quantised = new Set<number>([
  OperandType.TENSOR_QUANT8_ASYMM,
  OperandType.TENSOR_QUANT8_ASYMM_SIGNED,
  OperandType.TENSOR_QUANT8_SYMM,
  OperandType.TENSOR_QUANT16_ASYMM,
  OperandType.TENSOR_QUANT16_SYMM,
]);

/** Nanoseconds of an operation on a device of performance 1, without its start. Unknown extents count as 1. */
export function timeOf(subgraph: Subgraph, index: number, costs: CostModel): number {
  const { type, inputs, outputs } = elementAt(subgraph.operations, index);
  const read = inputs.map((operand) => elementAt(subgraph.operands, operand));
  const written = sum(outputs.map((operand) => elementsOf(elementAt(subgraph.operands, operand))));
  const [first, filter] = read;
  if (filter !== undefined && convolutions.has(type)) {
    // Each output takes as many multiply-adds as a filter has weights.
    return costs.multiplyAdd * written * (elementsOf(filter) / extent(filter, 0));
  }
  if (filter !== undefined && type === OperationType.DEPTHWISE_CONV_2D) {
    return costs.depthwiseMultiplyAdd * written * extent(filter, 1) * extent(filter, 2);
  }
  if (first !== undefined && recurrent.has(type)) {
    // Every matrix of weights is applied to each batch at each point in time, and a function to each result.
    const weights = read.slice(1).filter(({ dimensions }) => dimensions.length === 2);
    const rows = elementsOf(first) / extent(first, first.dimensions.length - 1);
    const results = sum(weights.map((matrix) => extent(matrix, 0)));
    return rows * (costs.recurrentMultiplyAdd * sum(weights.map(elementsOf)) + costs.functionElement * results);
  }
  const touched = written + sum(read.map(elementsOf));
  if (functions.has(type)) return costs.functionElement * touched;
  return (first !== undefined && quantised.has(first.type) ? costs.quantisedElement : costs.element) * touched;
}

function elementsOf({ dimensions }: Operand): number {
  return dimensions.reduce((count, one) => count * Math.max(one, 1), 1);
}

function extent({ dimensions }: Operand, axis: number): number {
  return Math.max(dimensions[axis] ?? 1, 1);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
