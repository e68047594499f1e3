/**
 * BUCKETIZE: the place of each number among sorted boundaries.
 */

import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { tensor, wide } from "../params.ts";
import { tfliteTypes } from "../tflite-types.ts";

export const bucketize = defineOperation({
  name: "BUCKETIZE",
  code: 1147,
  summary: "For each number, how many of the sorted boundaries are at most as great.",
  params: [wide(tensor("input")), tensor("boundaries", "TENSOR_FLOAT32")],
  outputs: [tensor("output", "TENSOR_INT32")],
  types: (["TENSOR_FLOAT32", tfliteTypes.TENSOR_FLOAT64, "TENSOR_INT32", tfliteTypes.TENSOR_INT64] as const).map(
    (type) => ["1.2", type] as const,
  ),
  ranks: { boundaries: 1 },
  infer: ({ input: { dimensions } }) => ({ output: { dimensions } }),
  reference({ input: { data }, boundaries: { data: sorted } }, { output }) {
    const check = (first: number, end: number) => {
      for (let place = Math.max(first, 1); place < end; place++) {
        const [before, after] = [sorted[place - 1], sorted[place]];
        ensure(before <= after, () => `boundary ${place} is ${after}, less than ${before} before it`);
      }
    };
    const depth = Math.ceil(Math.log2(sorted.length + 2));
    const isInteger = !(data instanceof Float32Array || data instanceof Float64Array);
    const compute = (first: number, end: number) => {
      for (let index = first; index < end; index++) {
        // An integer is compared as the float32 that is nearest to it, as the boundaries are of that type.
        const number = Number(data[index]);
        output.data[index] = countAtMost(sorted, isInteger ? Math.fround(number) : number);
      }
    };
    return [
      { units: sorted.length, compute: check },
      { units: data.length, cost: 4 * depth, compute },
    ];
  },
});

/** Returns how many of some sorted numbers are not greater than a number; NaN is greater than all. */
function countAtMost(sorted: ArrayLike<number>, number: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (number < sorted[middle]) high = middle;
    else low = middle + 1;
  }
  return low;
}
