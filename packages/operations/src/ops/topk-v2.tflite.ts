/**
 * TOPK_V2: the greatest elements along the last axis and their places, greatest first. Of equal elements the one with the smaller index comes
 * first, unlike in the HAL's operation; NaN comes after all numbers.
 */

import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { read, tensor, wide } from "../params.ts";
import { extentProduct } from "../shape.ts";
import { greatestOfRows } from "./_greatest.ts";
import { movable, oneNumber } from "./_integers.tflite.ts";
import { movedInfo } from "./_moved.ts";
import { splitTypes } from "./_types.tflite.ts";

const shortTypes = ["TENSOR_INT32", "TENSOR_QUANT16_SYMM"] as const;

export const topkV2 = defineOperation({
  name: "TOPK_V2",
  code: 1048,
  summary: "The k greatest elements along the last axis and their places, greatest first.",
  params: [wide(tensor("input")), read(tensor("k"))],
  outputs: [wide(tensor("values")), tensor("indices")],
  types: splitTypes.flatMap((type) =>
    shortTypes.flatMap((k) => shortTypes.map((index) => ["1.2", type, k, type, index] as const)),
  ),
  ranks: { input: [1, Number.POSITIVE_INFINITY] },
  infer({ input, k }, { indices }) {
    const { dimensions } = input;
    const last = dimensions.length - 1;
    const count = Math.max(0, oneNumber("k", k));
    ensure(count <= dimensions[last], () => `k: expected at most ${dimensions[last]} (the last extent), got ${count}`);
    const most = indices.type === "TENSOR_INT32" ? 2 ** 31 - 1 : 2 ** 15 - 1;
    ensure(
      dimensions[last] <= most,
      () => `the last extent is ${dimensions[last]} where the indices hold at most ${most}`,
    );
    const shape = [...dimensions.slice(0, last), count];
    return { values: movedInfo(input, shape), indices: { dimensions: shape } };
  },
  reference({ input: { data: elements, dimensions } }, { values, indices }) {
    const data = movable(elements);
    const into = movable(values.data);
    const length = dimensions[dimensions.length - 1];
    const k = values.dimensions[values.dimensions.length - 1];
    return greatestOfRows(
      extentProduct(dimensions, 0, dimensions.length - 1),
      length,
      k,
      (a, b) => isBefore(data[a], data[b], a < b),
      (row, chosen) => {
        for (let rank = 0; rank < k; rank++) into[row * k + rank] = data[row * length + chosen[rank]];
        indices.data.set(chosen, row * k);
      },
    );
  },
});

/** Returns whether an element comes before another one. `isEarlier`: the answer if they are equal. */
function isBefore(element: number, other: number, isEarlier: boolean): boolean {
  if (element > other) return true;
  if (element < other) return false;
  if (element === other) return isEarlier;
  const isLast = Number.isNaN(element);
  return isLast === Number.isNaN(other) ? isEarlier : !isLast;
}
