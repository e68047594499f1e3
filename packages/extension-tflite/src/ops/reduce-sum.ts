/**
 * REDUCE_SUM of integers and quantised elements, and of more than 4 axes. Integers wrap; a quantised sum is rounded once.
 */

import { isQuantised, writerOf } from "../_elements.ts";
import { inParts } from "../_elementwise.ts";
import { arithmeticTypes } from "../_types.ts";
import { combineAll, reduction, sumsOf } from "./_reduction.ts";

export const reduceSum = reduction("REDUCE_SUM", {
  types: arithmeticTypes,
  *kernel(input, { reduced, count }, output) {
    if (isQuantised(input.type)) {
      const sums = yield* sumsOf(input, reduced, output.data.length);
      const write = writerOf(output);
      yield* inParts(sums.length, (first, end) => {
        for (let index = first; index < end; index++) {
          write(index, (sums[index] - count * input.zeroPoint) * input.scale);
        }
      });
    } else {
      const combine =
        input.type === "TENSOR_INT32"
          ? (sum: number, element: number) => (sum + element) | 0
          : (sum: number, element: number) => sum + element;
      const combineLong = (sum: bigint, element: bigint) => sum + element;
      yield* combineAll(input, reduced, output, { start: 0, combine, startLong: 0n, combineLong });
    }
  },
});
