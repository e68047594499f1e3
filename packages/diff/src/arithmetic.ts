/** The arithmetic of operations: how far a device may be off the judge follows from it. */
import type { OperationTypeName } from "@nnhal/types";

/**
 * The arithmetic of an operation:
 *
 * - `moved`: elements are copied, chosen or compared, so none may differ. `rescales`: quantised ones get the scale of the output.
 * - `rounded`: float operations one after the other, each of which rounds once.
 * - `recurrent`: a cell, step by step: the HAL's allowance for each step.
 * - `summed`: sums of products. With n terms of at most m each, n + 2 roundings of numbers up to n * m.
 *
 * For an operation without a row, no bound follows from its arithmetic: the HAL's allowance for published vectors applies.
 */
export type Arithmetic =
  | { readonly kind: "moved"; readonly rescales?: boolean }
  | { readonly kind: "rounded"; readonly roundings: number }
  | { readonly kind: "recurrent" }
  | { readonly kind: "summed"; readonly terms: Terms };

/**
 * The terms of a sum. `filter`: operand 0 times the weights of one output, which are operand 1. `window`: the elements of operand 0
 * under a window. `reduced`: those that become one element of the output. A number: at most so many.
 */
export type Terms = "filter" | "window" | "reduced" | number;

const moved: Arithmetic = { kind: "moved" };
const rescaled: Arithmetic = { kind: "moved", rescales: true };
const round = (roundings: number): Arithmetic => ({ kind: "rounded", roundings });
const recurrent: Arithmetic = { kind: "recurrent" };
const sum = (terms: Terms): Arithmetic => ({ kind: "summed", terms });

/** The arithmetic of operations. */
export const arithmeticOf: Readonly<Partial<Record<OperationTypeName, Arithmetic>>> = {
  ABS: moved,
  ADD: round(1),
  ARGMAX: moved,
  ARGMIN: moved,
  AVERAGE_POOL_2D: sum("window"),
  BATCH_TO_SPACE_ND: moved,
  BIDIRECTIONAL_SEQUENCE_LSTM: recurrent,
  BIDIRECTIONAL_SEQUENCE_RNN: recurrent,
  CHANNEL_SHUFFLE: moved,
  CONCATENATION: rescaled,
  CONV_2D: sum("filter"),
  DEPTH_TO_SPACE: moved,
  DEPTHWISE_CONV_2D: sum("filter"),
  DEQUANTIZE: round(1),
  DIV: round(1),
  EMBEDDING_LOOKUP: moved,
  EQUAL: moved,
  EXPAND_DIMS: moved,
  FILL: moved,
  FLOOR: moved,
  FULLY_CONNECTED: sum("filter"),
  GATHER: moved,
  GREATER: moved,
  GREATER_EQUAL: moved,
  GROUPED_CONV_2D: sum("filter"),
  HARD_SWISH: round(4),
  HASHTABLE_LOOKUP: moved,
  LESS: moved,
  LESS_EQUAL: moved,
  LOGICAL_AND: moved,
  LOGICAL_NOT: moved,
  LOGICAL_OR: moved,
  MAX_POOL_2D: moved,
  MAXIMUM: rescaled,
  MEAN: sum("reduced"),
  MINIMUM: rescaled,
  MIRROR_PAD: moved,
  MUL: round(1),
  NEG: moved,
  NOT_EQUAL: moved,
  PACK: moved,
  PAD: moved,
  PAD_V2: moved,
  PRELU: round(1),
  RANK: moved,
  REDUCE_ALL: moved,
  REDUCE_ANY: moved,
  REDUCE_MAX: moved,
  REDUCE_MIN: moved,
  REDUCE_SUM: sum("reduced"),
  RELU: moved,
  RELU1: moved,
  RELU6: moved,
  RESHAPE: moved,
  RESIZE_BILINEAR: sum(4),
  RESIZE_NEAREST_NEIGHBOR: moved,
  REVERSE: moved,
  SELECT: rescaled,
  SLICE: moved,
  SPACE_TO_BATCH_ND: moved,
  SPACE_TO_DEPTH: moved,
  SPLIT: moved,
  SQRT: round(1),
  SQUEEZE: moved,
  STRIDED_SLICE: moved,
  SUB: round(1),
  TILE: moved,
  TOPK_V2: moved,
  TRANSPOSE: moved,
  TRANSPOSE_CONV_2D: sum("filter"),
  UNIDIRECTIONAL_SEQUENCE_LSTM: recurrent,
  UNIDIRECTIONAL_SEQUENCE_RNN: recurrent,
};

/** Returns the arithmetic of an operation; undefined if no bound follows from it. */
export function arithmeticIn({ name }: { readonly name: string }): Arithmetic | undefined {
  return Object.hasOwn(arithmeticOf, name) ? arithmeticOf[name as OperationTypeName] : undefined;
}

/** The greatest relative error of one rounding, and the least number that is not rounded to a coarser grid, by type. */
export const floatPrecision = {
  TENSOR_FLOAT32: { unit: 2 ** -23, least: 2 ** -126 },
  TENSOR_FLOAT16: { unit: 2 ** -10, least: 2 ** -24 },
} as const;
