/**
 * Diagonals of matrices, the last two axes of a tensor.
 */
import type { AnyTensorData } from "../operand-type.ts";
import type { Phase } from "../phases.ts";
import type { OutputTensor, Tensor } from "../tensor.ts";
import { movable } from "./_integers.tflite.ts";

/** Writes the elements of `diagonal`, matrix by matrix, to the diagonals of a tensor. */
export function copyDiagonals(
  diagonal: Tensor<AnyTensorData>,
  { data, dimensions }: OutputTensor<AnyTensorData>,
): Phase {
  const [rows, columns] = dimensions.slice(-2);
  const length = Math.min(rows, columns);
  const [source, target] = [movable(diagonal.data), movable(data)];
  return {
    units: source.length,
    compute(first, end) {
      for (let read = first; read < end; read++) {
        const place = read % length;
        target[((read - place) / length) * rows * columns + place * (columns + 1)] = source[read];
      }
    },
  };
}
