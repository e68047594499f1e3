/**
 * STRING_EQUAL: whether strings have the same bytes. EQUAL and NOT_EQUAL of .tflite become it.
 */
import type { Tensor, TensorData, TensorInfo } from "@nnhal/operations";
import { defineOperation, inferBroadcast, pacer, tensor } from "@nnhal/operations/authoring";
import { broadcastData } from "@nnhal/operations/kernels";
import { filledData } from "../_phases.ts";
import { isSameString, shapeOfStrings, stringsOf } from "../_strings.ts";
import { tfliteTypes } from "../types.ts";

export const stringEqual = defineOperation({
  name: "STRING_EQUAL",
  code: 2003,
  summary: "Whether strings have the same bytes. The shapes of the strings broadcast.",
  params: [tensor("left", tfliteTypes.TENSOR_STRING), tensor("right", tfliteTypes.TENSOR_STRING)],
  outputs: [tensor("output", "TENSOR_BOOL8")],
  types: [["1.2"]],
  ranks: { left: [2, Number.POSITIVE_INFINITY], right: [2, Number.POSITIVE_INFINITY] },
  infer: ({ left, right }) => inferBroadcast(withoutBytes(left), withoutBytes(right)),
  *reference({ left, right }, { output: { data, dimensions } }) {
    const [first, second] = [stringsOf(left), stringsOf(right)];
    const firstPlaces = yield* places(left, dimensions);
    const secondPlaces = yield* places(right, dimensions);
    const isTime = pacer();
    for (let index = 0; index < data.length; index++) {
      const text = first(firstPlaces[index]);
      data[index] = isSameString(text, second(secondPlaces[index])) ? 1 : 0;
      if (isTime(1 + text.length / 16)) yield;
    }
  },
});

function withoutBytes(strings: TensorInfo): TensorInfo {
  return { ...strings, dimensions: shapeOfStrings(strings) };
}

/** The place of the string that stands for each element of a shape that the strings broadcast to. */
function* places(strings: Pick<Tensor, "dimensions">, shape: readonly number[]): Generator<void, TensorData> {
  const dimensions = shapeOfStrings(strings);
  const count = dimensions.reduce((size, extent) => size * extent, 1);
  const data = Int32Array.from({ length: count }, (_, place) => place);
  return yield* filledData(broadcastData({ type: "TENSOR_INT32", dimensions, scale: 0, zeroPoint: 0, data }, shape));
}
