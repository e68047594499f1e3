/**
 * The one product of recurrent cells: a matrix with a vector.
 */
import type { Tensor } from "../tensor.ts";
import { WORK_BETWEEN_PAUSES } from "./_convolution.ts";

/** A vector inside a longer array. */
export interface Slice {
  readonly data: ArrayLike<number>;
  readonly offset: number;
}

/**
 * result[row] += Σ matrix[row, column] · vector[column]. The matrix is [rows, columns], the vector starts at `offset`. Pauses if
 * there are many elements.
 */
export function* addProduct(
  result: Float64Array,
  matrix: ArrayLike<number>,
  vector: ArrayLike<number>,
  offset: number,
  columns: number,
): Generator<void, void> {
  let at = 0;
  let work = 0;
  for (let row = 0; row < result.length; row++) {
    let sum = 0;
    for (let first = 0; first < columns; first += WORK_BETWEEN_PAUSES) {
      const end = Math.min(first + WORK_BETWEEN_PAUSES, columns);
      for (let column = first; column < end; column++) sum += matrix[at++] * vector[offset + column];
      work += end - first;
      if (work >= WORK_BETWEEN_PAUSES) {
        work = 0;
        yield;
      }
    }
    result[row] += sum;
  }
}

/** result[row] += Σ weights[row, column] · vector[column]: how a recurrent cell multiplies. The vector starts at `offset`. */
export type Product = (
  result: Float64Array,
  weights: Tensor,
  vector: ArrayLike<number>,
  offset: number,
) => Generator<void, void>;

/** The product with weights that are real numbers. */
export const plainProduct: Product = (result, weights, vector, offset) =>
  addProduct(result, weights.data, vector, offset, weights.dimensions[1]);
