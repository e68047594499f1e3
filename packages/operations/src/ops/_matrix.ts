/**
 * The one product of recurrent cells: a matrix with a vector.
 */

/** A vector inside a longer array. */
export interface Slice {
  readonly data: ArrayLike<number>;
  readonly offset: number;
}

/**
 * result[row] += Σ matrix[row, column] · vector[column]. The matrix is [rows, columns], the vector starts at `offset`.
 */
export function addProduct(
  result: Float64Array,
  matrix: ArrayLike<number>,
  vector: ArrayLike<number>,
  offset: number,
  columns: number,
): void {
  let at = 0;
  for (let row = 0; row < result.length; row++) {
    let sum = 0;
    for (let column = 0; column < columns; column++) sum += matrix[at++] * vector[offset + column];
    result[row] += sum;
  }
}
