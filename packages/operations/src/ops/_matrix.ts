/**
 * The one product of recurrent cells: a matrix with a vector.
 */
import type { Tensor } from "../tensor.ts";

/** A vector inside a longer array. */
export interface Slice {
  readonly data: ArrayLike<number>;
  readonly offset: number;
}

/** result[row] += Σ matrix[row, column] · vector[column]. The matrix is [rows, columns], the vector starts at `offset`. */
export function addProduct(
  result: Float64Array,
  matrix: ArrayLike<number>,
  vector: ArrayLike<number>,
  offset: number,
  columns: number,
): void {
  for (let row = 0, at = 0; row < result.length; row++) {
    let sum = 0;
    for (let column = 0; column < columns; column++) sum += matrix[at++] * vector[offset + column];
    result[row] += sum;
  }
}

/** result[row] += Σ weights[row, column] · vector[column]: how a recurrent cell multiplies. The vector starts at `offset`. */
export type Product = (result: Float64Array, weights: Tensor, vector: ArrayLike<number>, offset: number) => void;

/** The product with weights that are real numbers. */
export const plainProduct: Product = (result, weights, vector, offset) =>
  addProduct(result, weights.data, vector, offset, weights.dimensions[1]);
