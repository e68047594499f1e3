/**
 * STRING_GATHER: the strings at some places.
 */
import { defineOperation } from "../define.ts";
import { tensor } from "../params.ts";
import { tfliteTypes } from "../tflite-types.ts";
import { outside } from "./_gathered.tflite.ts";
import { copyStrings, countOf, stringsOf } from "./_strings.tflite.ts";

export const stringGather = defineOperation({
  name: "STRING_GATHER",
  code: 2002,
  summary: "The strings at some places, counted from 0 over all axes, in the shape of the places.",
  params: [tensor("strings", tfliteTypes.TENSOR_STRING), tensor("indexes", "TENSOR_INT32")],
  outputs: [tensor("output", tfliteTypes.TENSOR_STRING)],
  types: [["1.2"]],
  ranks: { strings: [2, Number.POSITIVE_INFINITY], indexes: [1, Number.POSITIVE_INFINITY] },
  infer: ({ strings, indexes }) => ({
    output: { dimensions: [...indexes.dimensions, strings.dimensions.at(-1) ?? 0] },
  }),
  reference({ strings, indexes }, { output }) {
    const at = stringsOf(strings);
    const count = countOf(strings);
    const choose = (place: number) => {
      const index = indexes.data[place];
      if (index < 0 || index >= count) throw outside(index, place, count);
      return at(index);
    };
    return copyStrings(indexes.data.length, choose, output);
  },
});
