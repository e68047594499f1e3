/**
 * CUMSUM: sums of all elements up to each along an axis.
 */

import { defineOperation } from "../define.ts";
import { bool, tensor, wide } from "../params.ts";
import { extentProduct, resolveAxis } from "../shape.ts";
import { tfliteTypes } from "../tflite-types.ts";
import { movable, oneNumber } from "./_integers.tflite.ts";

export const cumsum = defineOperation({
  name: "CUMSUM",
  code: 1128,
  summary:
    "The sum of all elements up to each along an axis; exclusive: without the element itself; reverse: from the end.",
  params: [wide(tensor("input")), tensor("axis", "TENSOR_INT32"), bool("exclusive"), bool("reverse")],
  outputs: [wide(tensor("output"))],
  types: (["TENSOR_FLOAT32", "TENSOR_INT32", tfliteTypes.TENSOR_INT64] as const).map(
    (type) => ["1.2", type, type] as const,
  ),
  ranks: { input: [1, Number.POSITIVE_INFINITY] },
  infer: ({ input: { dimensions } }) => ({ output: { dimensions } }),
  reference({ input: { data, dimensions }, axis, exclusive, reverse }, { output }) {
    const summed = resolveAxis(oneNumber("axis", axis), dimensions.length);
    const extent = dimensions[summed];
    const inner = extentProduct(dimensions, summed + 1);
    const [source, target] = [movable(data), movable(output.data)];
    // The distance from an element back to the one before it in the sum.
    const back = reverse ? inner : -inner;
    const isFirst = (place: number) => Math.floor(place / inner) % extent === (reverse ? extent - 1 : 0);
    return {
      units: source.length,
      inTurn: true,
      compute(first, end) {
        for (let unit = first; unit < end; unit++) {
          const place = reverse ? source.length - 1 - unit : unit;
          // Each sum is rounded, or wraps, where it is stored; the next one is computed from there. The first element of an exclusive sum stays 0.
          if (!isFirst(place)) target[place] = target[place + back] + source[exclusive ? place + back : place];
          else if (!exclusive) target[place] = source[place];
        }
      },
    };
  },
});
