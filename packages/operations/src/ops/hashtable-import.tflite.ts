/**
 * HASHTABLE_IMPORT: fills a hash table once.
 */
import { defineOperation } from "../define.ts";
import { tensor, wide } from "../params.ts";
import { resize } from "../tensor.ts";
import { copyElements } from "./_copies.ts";
import { movable } from "./_integers.tflite.ts";
import { checkTable, isImported, tableKeys, tableTypes, tableValues } from "./_tables.tflite.ts";

export const hashtableImport = defineOperation({
  name: "HASHTABLE_IMPORT",
  code: 1138,
  summary: "The contents of a hash table: those that it has, or the given ones if it has none.",
  params: [isImported, tableKeys, tableValues, wide(tensor("keys")), wide(tensor("values"))],
  outputs: [wide(tensor("newKeys")), wide(tensor("newValues"))],
  types: tableTypes.map(([key, value]) => ["1.2", key, value, key, value, key, value] as const),
  dynamic: true,
  infer({ keys, values }) {
    checkTable(keys, values);
    const unknown = ({ dimensions }: { readonly dimensions: readonly number[] }) => ({
      dimensions: dimensions.map(() => 0),
    });
    return { newKeys: unknown(keys), newValues: unknown(values) };
  },
  reference({ isImported, tableKeys, tableValues, keys, values }, { newKeys, newValues }) {
    const isThere = isImported.data[0] !== 0;
    const lists = [
      [isThere ? tableKeys : keys, newKeys],
      [isThere ? tableValues : values, newValues],
    ] as const;
    return lists.map(([from, to]) => {
      resize(to, from.dimensions);
      return copyElements(movable(from.data), movable(to.data));
    });
  },
});
