/**
 * STRING_INDEXES: the places of strings, in their shape. An operation on these integers and STRING_GATHER together move strings as the
 * operation moves integers.
 */
import { defineOperation } from "../define.ts";
import { tensor } from "../params.ts";
import { tfliteTypes } from "../tflite-types.ts";
import { shapeOfStrings } from "./_strings.tflite.ts";

export const stringIndexes = defineOperation({
  name: "STRING_INDEXES",
  code: 2001,
  summary: "The places of strings, counted from 0, in their shape.",
  params: [tensor("strings", tfliteTypes.TENSOR_STRING)],
  outputs: [tensor("output", "TENSOR_INT32")],
  types: [["1.2"]],
  ranks: { strings: [2, Number.POSITIVE_INFINITY] },
  infer: ({ strings }) => ({ output: { dimensions: shapeOfStrings(strings) } }),
  reference(_, { output: { data } }) {
    const compute = (first: number, end: number) => {
      for (let index = first; index < end; index++) data[index] = index;
    };
    return { units: data.length, cost: 1, compute };
  },
});
