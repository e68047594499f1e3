/**
 * Parts of a tensor along an axis, one behind another.
 */
import { type AnyTensorData, extentProduct, type OutputTensor, type Tensor } from "@nnhal/operations";
import { copyInChunks, pacer } from "@nnhal/operations/authoring";
import { movable } from "./_integers.ts";

/** Fills each output with the next part of the input; together they have as many elements as the input. */
export function* copyParts(
  { data, dimensions }: Tensor<AnyTensorData>,
  axis: number,
  outputs: readonly OutputTensor<AnyTensorData>[],
): Generator<void, void> {
  const outer = extentProduct(dimensions, 0, axis);
  if (outer === 0) return;
  const inputRow = extentProduct(dimensions, axis);
  const source = movable(data);
  const isTime = pacer();
  let start = 0;
  for (const output of outputs) {
    const row = output.data.length / outer;
    for (let index = 0; index < outer; index++) {
      const from = index * inputRow + start;
      yield* copyInChunks(source.subarray(from, from + row), movable(output.data), index * row);
      if (isTime(row + 1)) yield;
    }
    start += row;
  }
}
