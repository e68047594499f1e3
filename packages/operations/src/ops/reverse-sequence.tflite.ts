/**
 * REVERSE_SEQUENCE: the first elements of each sequence backwards, the others as they are.
 */

import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { int32, tensor, wide } from "../params.ts";
import { extentProduct, stridesOf } from "../shape.ts";
import { tfliteTypes } from "../tflite-types.ts";
import { indexTypes, movable, numbersOf } from "./_integers.tflite.ts";
import { movedInfo } from "./_moved.ts";
import { copyWholeRun, costOfRun } from "./_runs.ts";

export const reverseSequence = defineOperation({
  name: "REVERSE_SEQUENCE",
  code: 1112,
  summary:
    "Sequences along axis seqDim with their first elements backwards; seqLengths has how many for each place of axis batchDim.",
  params: [wide(tensor("input")), wide(tensor("seqLengths")), int32("seqDim"), int32("batchDim")],
  outputs: [wide(tensor("output"))],
  types: (
    ["TENSOR_FLOAT32", "TENSOR_INT32", tfliteTypes.TENSOR_INT64, "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT16_SYMM"] as const
  ).flatMap((type) => indexTypes.map((integer) => ["1.2", type, integer, type] as const)),
  ranks: { input: [2, Number.POSITIVE_INFINITY], seqLengths: 1 },
  infer({ input, seqLengths, seqDim, batchDim }) {
    const { dimensions } = input;
    for (const [name, axis] of Object.entries({ seqDim, batchDim })) {
      ensure(axis >= 0 && axis < dimensions.length, () => `${name} is ${axis}, outside [0, ${dimensions.length})`);
    }
    ensure(seqDim !== batchDim, () => `seqDim and batchDim are both ${seqDim}`);
    const [count] = seqLengths.dimensions;
    ensure(
      count === dimensions[batchDim],
      () => `expected ${dimensions[batchDim]} lengths (the extent of axis ${batchDim}), got ${count}`,
    );
    return { output: movedInfo(input, dimensions) };
  },
  reference({ input: { data, dimensions }, seqLengths, seqDim, batchDim }, { output }) {
    const lengths = numbersOf(seqLengths.data);
    lengths.forEach((length, batch) => {
      ensure(
        length >= 0 && length <= dimensions[seqDim],
        () => `length ${length} of sequence ${batch} is outside [0, ${dimensions[seqDim]}]`,
      );
    });
    const [source, target] = [movable(data), movable(output.data)];
    const steps = stridesOf(dimensions);
    const inner = extentProduct(dimensions, Math.max(seqDim, batchDim) + 1);
    return {
      units: inner === 0 ? 0 : source.length / inner,
      cost: costOfRun(inner),
      compute(first, end) {
        for (let block = first * inner; block < end * inner; block += inner) {
          const place = Math.floor(block / steps[seqDim]) % dimensions[seqDim];
          const length = lengths[Math.floor(block / steps[batchDim]) % dimensions[batchDim]];
          const from = place < length ? block + (length - 1 - 2 * place) * steps[seqDim] : block;
          copyWholeRun(source, from, inner, target, block);
        }
      },
    };
  },
});
