/**
 * REDUCE_SUM of integers and quantised elements, and of more than 4 axes. Integers wrap; a quantised sum is rounded once.
 */

import { isQuantised, writerOf } from "../_elements.ts";
import { arithmeticTypes } from "../_types.ts";
import { combineAll, reduction, sumsOf } from "./_reduction.ts";

export const reduceSum = reduction("REDUCE_SUM", {
  types: arithmeticTypes,
  kernel(input, { reduced, count }, output) {
    if (isQuantised(input.type)) {
      const { data: sums, phases } = sumsOf(input, reduced, output.data.length);
      const write = writerOf(output);
      const compute = (first: number, end: number) => {
        for (let index = first; index < end; index++) {
          write(index, (sums[index] - count * input.zeroPoint) * input.scale);
        }
      };
      return [...phases, { units: sums.length, compute }];
    }
    const combine =
      input.type === "TENSOR_INT32"
        ? (sum: number, element: number) => (sum + element) | 0
        : (sum: number, element: number) => sum + element;
    const combineLong = (sum: bigint, element: bigint) => sum + element;
    return combineAll(input, reduced, output, { start: 0, combine, startLong: 0n, combineLong });
  },
});
