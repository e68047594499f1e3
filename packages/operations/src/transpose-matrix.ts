/** Matrix transposition, for engines whose weights have another layout than the HAL's. */
import type { TensorData } from "./tensor.ts";

/** Columns that are read together: their cache lines stay in the cache from row to row. */
const BLOCK = 16;

/**
 * The elements of a matrix, column by column, as float32. A filter of shape [outputs, height, width, inputs] is a matrix of `outputs`
 * rows. `zeroPoint` is subtracted from each element. Default: 0.
 */
export function transposeMatrix(data: TensorData, rows: number, zeroPoint = 0): Float32Array {
  const columns = data.length / rows;
  const result = new Float32Array(data.length);
  for (let first = 0; first < columns; first += BLOCK) {
    const end = Math.min(first + BLOCK, columns);
    for (let row = 0; row < rows; row++) {
      let from = row * columns + first;
      for (let column = first; column < end; column++) result[column * rows + row] = data[from++] - zeroPoint;
    }
  }
  return result;
}
