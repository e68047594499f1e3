/**
 * STRING_EQUAL: whether strings have the same bytes. EQUAL and NOT_EQUAL of .tflite become it.
 */

import { defineOperation } from "../define.ts";
import { tensor } from "../params.ts";
import type { Filled } from "../phases.ts";
import type { Tensor, TensorData, TensorInfo } from "../tensor.ts";
import { tfliteTypes } from "../tflite-types.ts";
import { broadcastData, inferBroadcast } from "./_broadcast.ts";
import { isSameString, shapeOfStrings, stringsOf } from "./_strings.tflite.ts";

export const stringEqual = defineOperation({
  name: "STRING_EQUAL",
  code: 2003,
  summary: "Whether strings have the same bytes. The shapes of the strings broadcast.",
  params: [tensor("left", tfliteTypes.TENSOR_STRING), tensor("right", tfliteTypes.TENSOR_STRING)],
  outputs: [tensor("output", "TENSOR_BOOL8")],
  types: [["1.2"]],
  ranks: { left: [2, Number.POSITIVE_INFINITY], right: [2, Number.POSITIVE_INFINITY] },
  infer: ({ left, right }) => inferBroadcast(withoutBytes(left), withoutBytes(right)),
  reference({ left, right }, { output: { data, dimensions } }) {
    const [leftOf, rightOf] = [stringsOf(left), stringsOf(right)];
    const [lefts, rights] = [placesOf(left, dimensions), placesOf(right, dimensions)];
    const width = left.dimensions[left.dimensions.length - 1];
    const compute = (first: number, end: number) => {
      for (let index = first; index < end; index++) {
        data[index] = isSameString(leftOf(lefts.data[index]), rightOf(rights.data[index])) ? 1 : 0;
      }
    };
    return [...lefts.phases, ...rights.phases, { units: data.length, cost: 4 + width / 4, compute }];
  },
});

function withoutBytes(strings: TensorInfo): TensorInfo {
  return { ...strings, dimensions: shapeOfStrings(strings) };
}

/** The place of the string that stands for each element of a shape that the strings broadcast to. */
function placesOf(strings: Pick<Tensor, "dimensions">, shape: readonly number[]): Filled<TensorData> {
  const dimensions = shapeOfStrings(strings);
  const count = dimensions.reduce((size, extent) => size * extent, 1);
  const data = Int32Array.from({ length: count }, (_, place) => place);
  return broadcastData({ type: "TENSOR_INT32", dimensions, scale: 0, zeroPoint: 0, data }, shape);
}
