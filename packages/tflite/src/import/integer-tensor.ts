/** An integer tensor. */
export interface IntegerTensor {
  readonly values: readonly number[];
  /** Empty for a scalar. */
  readonly shape: readonly number[];
}

/** Most elements of an input or a result of an operator that the import computes: shapes have a few. */
export const MOST_FOLDED = 2 ** 12;
