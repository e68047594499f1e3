/**
 * The amount of computation of an operation: numbers of elementary steps by kind, from which a cost model predicts
 * times.
 */

/**
 * Kinds of elementary steps. `multiplyAdd`: one multiply-add of a convolution or matrix product. `recurrentMultiplyAdd`: the same of a
 * recurrent cell, which has few rows at a time. `depthwiseMultiplyAdd`: the same of a depthwise convolution, which reuses little.
 * `element`: one element read or written. `functionElement`: the same, if the operation computes a function of each element, such as
 * TANH, or reads many elements for each, such as a pooling.
 */
export const workKinds = [
  "multiplyAdd",
  "recurrentMultiplyAdd",
  "depthwiseMultiplyAdd",
  "element",
  "functionElement",
] as const;
export type WorkKind = (typeof workKinds)[number];

/** Numbers of steps by kind; an absent kind has none. */
export type Work = { readonly [Kind in WorkKind]?: number };

/** The extents of an operand, each at least 1: an unknown one counts as 1. Empty for a scalar and for an unknown rank. */
export type Extents = readonly number[];

/** The extents of any operation's operands by parameter name; undefined for one that is left out. */
export type AnyExtents = Readonly<Record<string, Extents | readonly Extents[] | undefined>>;

/** Filters that each see all channels, and weights of a matrix product: one multiply-add for each output and weight of a filter. */
export function filterWork(filter: Extents, output: Extents): Work {
  return { multiplyAdd: size(output) * size(filter.slice(1)) };
}

/** Filters [1, height, width, channels] that each see one channel. */
export function depthwiseWork(filter: Extents, output: Extents): Work {
  return { depthwiseMultiplyAdd: size(output) * size(filter.slice(1, 3)) };
}

/** A recurrent cell: each matrix is multiplied with each row of the input, and a function is computed of each result. */
export function recurrentWork({ input, ...others }: AnyExtents & { readonly input: Extents }): Work {
  const matrices = Object.values(others).filter(isMatrix);
  const rows = size(input.slice(0, -1));
  const results = matrices.reduce((sum, [units]) => sum + units, 0);
  return { recurrentMultiplyAdd: rows * sizeOfAll(matrices), functionElement: rows * results };
}

function isMatrix(operand: AnyExtents[string]): operand is readonly [rows: number, columns: number] {
  return operand?.length === 2 && operand.every((extent) => typeof extent === "number");
}

function size(extents: Extents): number {
  return extents.reduce((product, extent) => product * extent, 1);
}

/** The number of elements of several operands together. */
export function sizeOfAll(operands: readonly Extents[]): number {
  return operands.reduce((sum, operand) => sum + size(operand), 0);
}
