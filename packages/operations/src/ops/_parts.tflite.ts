/**
 * Parts of a tensor along an axis, one behind another.
 */
import type { AnyTensorData } from "../operand-type.ts";
import type { Phase } from "../phases.ts";
import { extentProduct } from "../shape.ts";
import type { OutputTensor, Tensor } from "../tensor.ts";
import { movable } from "./_integers.tflite.ts";
import { copyRuns } from "./_runs.tflite.ts";

/** Fills each output with the next part of the input; together they have as many elements as the input. */
export function copyParts(
  { data, dimensions }: Tensor<AnyTensorData>,
  axis: number,
  outputs: readonly OutputTensor<AnyTensorData>[],
): readonly Phase[] {
  const outer = extentProduct(dimensions, 0, axis);
  if (outer === 0) return [];
  const inputRow = extentProduct(dimensions, axis);
  const source = movable(data);
  let behind = 0;
  return outputs.map((output) => {
    const row = output.data.length / outer;
    const start = behind;
    behind += row;
    const fromOf = (index: number) => index * inputRow + start;
    return copyRuns(outer, row, source, fromOf, movable(output.data), (index) => index * row);
  });
}
