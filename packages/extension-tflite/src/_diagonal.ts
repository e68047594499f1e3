/**
 * Diagonals of matrices, the last two axes of a tensor.
 */
import type { AnyTensorData, OutputTensor, Tensor } from "@nnhal/operations";
import { pacer } from "@nnhal/operations/authoring";
import { movable } from "./_integers.ts";

/** Writes the elements of `diagonal`, matrix by matrix, to the diagonals of a tensor. */
export function* copyDiagonals(
  diagonal: Tensor<AnyTensorData>,
  { data, dimensions }: OutputTensor<AnyTensorData>,
): Generator<void, void> {
  const [rows, columns] = dimensions.slice(-2);
  const length = Math.min(rows, columns);
  const [source, target] = [movable(diagonal.data), movable(data)];
  const isTime = pacer();
  for (let read = 0; read < source.length; read++) {
    const place = read % length;
    target[((read - place) / length) * rows * columns + place * (columns + 1)] = source[read];
    if (isTime(1)) yield;
  }
}
