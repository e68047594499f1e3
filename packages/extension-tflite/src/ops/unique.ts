/**
 * UNIQUE: the different elements of a list, in the order of their first occurrence.
 */
import { defineOperation, int32, pacer, tensor, wide } from "@nnhal/operations/authoring";
import { movedInfo, resize } from "@nnhal/operations/kernels";
import { indexTypes, movable } from "../_integers.ts";
import { integerStore } from "../_store.ts";
import { splitTypes } from "../_types.ts";

export const unique = defineOperation({
  name: "UNIQUE",
  code: 1103,
  summary:
    "The different elements of a list in the order of their first occurrence, and for each element of the list its place among them.",
  params: [wide(tensor("input")), int32("idxOutType")],
  outputs: [wide(tensor("values")), wide(tensor("indices"))],
  types: splitTypes.flatMap((type) => indexTypes.map((index) => ["1.2", type, type, index] as const)),
  ranks: { input: 1 },
  dynamic: true,
  infer: ({ input }) => ({ values: movedInfo(input, [0]), indices: { dimensions: input.dimensions } }),
  *reference({ input: { data, dimensions } }, { values, indices }) {
    resize(indices, dimensions);
    const store = integerStore(indices.data);
    const places = new Map<number, number>();
    const isTime = pacer();
    const source = movable(data);
    for (let index = 0; index < source.length; index++) {
      const element = source[index];
      const known = places.get(element);
      store(index, known ?? places.size);
      if (known === undefined) places.set(element, places.size);
      if (isTime(8)) yield;
    }
    resize(values, [places.size]);
    const target = movable(values.data);
    for (const [element, place] of places) {
      target[place] = element;
      if (isTime(1)) yield;
    }
  },
});
