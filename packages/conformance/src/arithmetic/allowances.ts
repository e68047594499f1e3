/**
 * The allowances of results against the reference's, as a table: each operation has its kind of arithmetic, from which the
 * allowance for one example follows: from its types, its elements, and the number of terms that it sums. docs/conformance.md
 * explains it.
 */
import { elementAt, elementCount, isFloat, type Operation, type OutputTensor, type Tensor } from "@nnhal/operations";
import type { OperationTypeName } from "@nnhal/types";
import type { RandomOperation } from "../random/draw.ts";
import type { Allowance } from "../vectors/example.ts";

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
const rounded = (roundings: number): Arithmetic => ({ kind: "rounded", roundings });
const recurrent: Arithmetic = { kind: "recurrent" };
const summed = (terms: Terms): Arithmetic => ({ kind: "summed", terms });

/** The arithmetic of operations. */
export const arithmeticOf: Readonly<Partial<Record<OperationTypeName, Arithmetic>>> = {
  ABS: moved,
  ADD: rounded(1),
  ARGMAX: moved,
  ARGMIN: moved,
  AVERAGE_POOL_2D: summed("window"),
  BATCH_TO_SPACE_ND: moved,
  BIDIRECTIONAL_SEQUENCE_LSTM: recurrent,
  BIDIRECTIONAL_SEQUENCE_RNN: recurrent,
  CHANNEL_SHUFFLE: moved,
  CONCATENATION: rescaled,
  CONV_2D: summed("filter"),
  DEPTH_TO_SPACE: moved,
  DEPTHWISE_CONV_2D: summed("filter"),
  DEQUANTIZE: rounded(1),
  DIV: rounded(1),
  EMBEDDING_LOOKUP: moved,
  EQUAL: moved,
  EXPAND_DIMS: moved,
  FILL: moved,
  FLOOR: moved,
  FULLY_CONNECTED: summed("filter"),
  GATHER: moved,
  GREATER: moved,
  GREATER_EQUAL: moved,
  GROUPED_CONV_2D: summed("filter"),
  HARD_SWISH: rounded(4),
  HASHTABLE_LOOKUP: moved,
  LESS: moved,
  LESS_EQUAL: moved,
  LOGICAL_AND: moved,
  LOGICAL_NOT: moved,
  LOGICAL_OR: moved,
  MAX_POOL_2D: moved,
  MAXIMUM: rescaled,
  MEAN: summed("reduced"),
  MINIMUM: rescaled,
  MUL: rounded(1),
  NEG: moved,
  NOT_EQUAL: moved,
  PAD: moved,
  PAD_V2: moved,
  PRELU: rounded(1),
  RANK: moved,
  REDUCE_ALL: moved,
  REDUCE_ANY: moved,
  REDUCE_MAX: moved,
  REDUCE_MIN: moved,
  REDUCE_SUM: summed("reduced"),
  RELU: moved,
  RELU1: moved,
  RELU6: moved,
  RESHAPE: moved,
  RESIZE_BILINEAR: summed(4),
  RESIZE_NEAREST_NEIGHBOR: moved,
  SELECT: rescaled,
  SLICE: moved,
  SPACE_TO_BATCH_ND: moved,
  SPACE_TO_DEPTH: moved,
  SPLIT: moved,
  SQRT: rounded(1),
  SQUEEZE: moved,
  STRIDED_SLICE: moved,
  SUB: rounded(1),
  TILE: moved,
  TOPK_V2: moved,
  TRANSPOSE: moved,
  TRANSPOSE_CONV_2D: summed("filter"),
  UNIDIRECTIONAL_SEQUENCE_LSTM: recurrent,
  UNIDIRECTIONAL_SEQUENCE_RNN: recurrent,
};

/** The greatest relative error of one rounding, and the least number that is not rounded to a coarser grid, by type. */
const precision = {
  TENSOR_FLOAT32: { unit: 2 ** -23, least: 2 ** -126 },
  TENSOR_FLOAT16: { unit: 2 ** -10, least: 2 ** -24 },
} as const;

/** Operations that only copy elements, whichever these are. */
const copying: ReadonlySet<string> = new Set([
  "BATCH_TO_SPACE_ND",
  "CHANNEL_SHUFFLE",
  "CONCATENATION",
  "DEPTH_TO_SPACE",
  "EMBEDDING_LOOKUP",
  "EXPAND_DIMS",
  "GATHER",
  "HASHTABLE_LOOKUP",
  "PAD",
  "PAD_V2",
  "RESHAPE",
  "SELECT",
  "SLICE",
  "SPACE_TO_BATCH_ND",
  "SPACE_TO_DEPTH",
  "SPLIT",
  "SQUEEZE",
  "STRIDED_SLICE",
  "TILE",
  "TRANSPOSE",
]);

/** Operations whose results from NaN and infinities IEEE 754 fixes, if no activation follows. */
const fixedByIeee: ReadonlySet<string> = new Set([
  "ABS",
  "ADD",
  "EQUAL",
  "GREATER",
  "GREATER_EQUAL",
  "LESS",
  "LESS_EQUAL",
  "MUL",
  "NEG",
  "NOT_EQUAL",
  "SUB",
]);

/** Operations whose results are each a function of one element of each operand; the results for NaN and infinities are open. */
const elementwise: ReadonlySet<string> = new Set([
  "DIV",
  "ELU",
  "EXP",
  "FLOOR",
  "HARD_SWISH",
  "LOG",
  "LOGISTIC",
  "MAXIMUM",
  "MINIMUM",
  "POW",
  "RELU",
  "RELU1",
  "RELU6",
  "RSQRT",
  "SIN",
  "SQRT",
  "TANH",
]);

/**
 * Returns true if operands of an operation may hold NaN and infinities: the HAL does not define their effect on the other
 * elements of a sum.
 */
export function takesUnusual({ name }: Operation): boolean {
  return copying.has(name) || fixedByIeee.has(name) || elementwise.has(name);
}

/** Returns true if the results for NaN and infinities are fixed. */
export function hasFixedUnusual({ inputs, signature }: RandomOperation): boolean {
  const { name } = signature.operation;
  const activation = inputs[signature.inputs.findIndex((param) => param.name === "activation")];
  return copying.has(name) || (fixedByIeee.has(name) && (activation?.data[0] ?? 0) === 0);
}

/** The HAL's own allowances by the class of type. */
const ofHal = {
  float32: { absolute: 1e-5, relative: 5 * 2 ** -23 },
  float16: { absolute: 5 * 2 ** -10, relative: 5 * 2 ** -10 },
  step: { absolute: 1, relative: 0 },
} as const;

const none: Allowance = { absolute: 0, relative: 0 };

/** Returns the arithmetic of an operation; undefined if no bound follows from it. */
export function arithmeticIn({ name }: Operation): Arithmetic | undefined {
  return Object.entries(arithmeticOf).find(([known]) => known === name)?.[1];
}

/** The allowance for an output of an example. */
export function allowanceFor(drawn: RandomOperation, output: OutputTensor): Allowance {
  const allowance = boundOf(arithmeticIn(drawn.signature.operation), drawn, output);
  const hasUnusual = isFloat(output.type) && !output.data.every(Number.isFinite);
  return hasUnusual && !hasFixedUnusual(drawn) ? { ...allowance, anyUnusual: true } : allowance;
}

function boundOf(arithmetic: Arithmetic | undefined, drawn: RandomOperation, { type, scale }: OutputTensor): Allowance {
  if (type !== "TENSOR_FLOAT32" && type !== "TENSOR_FLOAT16") {
    if (arithmetic?.kind !== "moved") return scale > 0 ? ofHal.step : arithmetic === undefined ? ofHal.step : none;
    return arithmetic.rescales && scale > 0 ? ofHal.step : none;
  }
  const { unit, least } = precision[type];
  const standard = type === "TENSOR_FLOAT32" ? ofHal.float32 : ofHal.float16;
  switch (arithmetic?.kind) {
    case undefined:
      return standard;
    case "moved":
      return none;
    case "rounded":
      return { absolute: least, relative: arithmetic.roundings * unit };
    case "recurrent": {
      // Batches and steps are the first two extents, in either order.
      const steps = Math.max(...(drawn.inputs[0]?.dimensions.slice(0, 2) ?? []), 1);
      return { absolute: steps * standard.absolute, relative: steps * standard.relative };
    }
    case "summed": {
      if (type === "TENSOR_FLOAT16") return standard;
      const { count, greatest } = termsOf(arithmetic.terms, drawn);
      return { absolute: (count + 2) * (unit / 2) * count * greatest, relative: unit };
    }
  }
}

/** Returns the number of terms of a sum, its bias included, and the greatest finite magnitude of one. */
function termsOf(terms: Terms, { inputs, signature }: RandomOperation): { count: number; greatest: number } {
  const [image, filter] = inputs;
  if (image === undefined) return { count: 1, greatest: 0 };
  const named = (name: string) => inputs[signature.inputs.findIndex((param) => param.name === name)];
  const of = greatestOf(image);
  switch (terms) {
    case "filter": {
      if (filter === undefined) return { count: 1, greatest: of };
      const bias = greatestOf(inputs[2]);
      return { count: elementCount(filter.dimensions) + 1, greatest: Math.max(of * greatestOf(filter), bias) };
    }
    case "window": {
      const extent = (name: string) => elementAt([...(named(name)?.data ?? [1])], 0);
      return { count: extent("filterWidth") * extent("filterHeight"), greatest: of };
    }
    case "reduced":
      return { count: elementCount(image.dimensions), greatest: of };
    default:
      return { count: terms, greatest: of };
  }
}

function greatestOf(tensor: Tensor | undefined): number {
  let greatest = 0;
  for (const element of tensor?.data ?? []) {
    if (Number.isFinite(element)) greatest = Math.max(greatest, Math.abs(element));
  }
  return greatest;
}
