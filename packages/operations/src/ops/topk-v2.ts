/**
 * TOPK_V2: the greatest elements along the last axis and their places, greatest first. HAL: of equal elements the one with
 * the larger index comes first.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { int32, tensor } from "../params.ts";
import { greatestOfRows } from "./_greatest.ts";
import { floatIntegerAndQuant8Types, movedInfo } from "./_moved.ts";

export const topkV2 = defineOperation({
  name: "TOPK_V2",
  code: OperationType.TOPK_V2,
  summary: "The k greatest elements along the last axis and their places, greatest first.",
  params: [tensor("input"), int32("k")],
  outputs: [tensor("values"), tensor("indices", "TENSOR_INT32")],
  types: floatIntegerAndQuant8Types,
  ranks: { input: [1, Number.POSITIVE_INFINITY] },
  infer({ input, k }) {
    const { dimensions } = input;
    const last = dimensions.length - 1;
    ensure(k > 0 && k <= dimensions[last], () => `k: expected a number within [1, ${dimensions[last]}], got ${k}`);
    const shape = [...dimensions.slice(0, last), k];
    return { values: movedInfo(input, shape), indices: { dimensions: shape } };
  },
  reference({ input: { data, dimensions }, k }, { values, indices }) {
    const length = dimensions[dimensions.length - 1];
    return greatestOfRows(
      data.length / length,
      length,
      k,
      (a, b) => isBefore(data[a], data[b], a > b),
      (row, chosen) => {
        for (let rank = 0; rank < k; rank++) values.data[row * k + rank] = data[row * length + chosen[rank]];
        indices.data.set(chosen, row * k);
      },
    );
  },
});

/**
 * Returns whether an element comes before another; NaN comes after all numbers. `isLater`: the answer if they are
 * equal.
 */
function isBefore(element: number, other: number, isLater: boolean): boolean {
  if (element === other) return isLater;
  if (Number.isNaN(element)) return Number.isNaN(other) && isLater;
  return element > other || Number.isNaN(other);
}
