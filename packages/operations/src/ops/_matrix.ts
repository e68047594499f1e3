/**
 * The one product of recurrent cells: a matrix with a vector.
 */
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
