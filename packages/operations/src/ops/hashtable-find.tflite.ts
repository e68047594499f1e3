/**
 * HASHTABLE_FIND: the values of keys.
 */

import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { tensor, wide } from "../params.ts";
import { elementCount } from "../tensor.ts";
import { copyStrings, stringsOf } from "./_strings.tflite.ts";
import {
  checkTable,
  isImported,
  isString,
  keysOf,
  placesOf,
  shapeOf,
  tableKeys,
  tableTypes,
  tableValues,
} from "./_tables.tflite.ts";

export const hashtableFind = defineOperation({
  name: "HASHTABLE_FIND",
  code: 1137,
  summary:
    "The values of keys in a hash table, and the default value for keys that it lacks. Of equal keys of the table the first counts.",
  params: [isImported, tableKeys, tableValues, wide(tensor("keys")), wide(tensor("defaultValue"))],
  outputs: [wide(tensor("output"))],
  types: tableTypes.map(([key, value]) => ["1.2", key, value, key, value, value] as const),
  infer({ tableKeys, tableValues, keys, defaultValue }) {
    checkTable(tableKeys, tableValues);
    const count = elementCount(shapeOf(defaultValue));
    ensure(count === 1, () => `expected 1 default value, got ${count}`);
    const widths = isString(tableValues)
      ? [tableValues, defaultValue].map(({ dimensions }) => dimensions.at(-1) ?? 0)
      : [];
    return { output: { dimensions: [...shapeOf(keys), ...(widths.length > 0 ? [Math.max(...widths)] : [])] } };
  },
  reference({ isImported, tableKeys, tableValues, keys, defaultValue }, { output }) {
    ensure(isImported.data[0] !== 0, () => "the hash table is read before HASHTABLE_IMPORT fills it");
    const { data: places, phases } = placesOf(tableKeys, keys);
    const at = keysOf(keys);
    const count = elementCount(shapeOf(keys));
    if (isString(output)) {
      const [values, otherwise] = [stringsOf(tableValues), stringsOf(defaultValue)];
      const valueAt = (index: number) => {
        const place = places.get(at(index));
        return place === undefined ? otherwise(0) : values(place);
      };
      return [...phases, copyStrings(count, valueAt, output)];
    }
    const compute = (first: number, end: number) => {
      for (let index = first; index < end; index++) {
        const place = places.get(at(index));
        output.data[index] = place === undefined ? defaultValue.data[0] : tableValues.data[place];
      }
    };
    return [...phases, { units: count, cost: 64, compute }];
  },
});
