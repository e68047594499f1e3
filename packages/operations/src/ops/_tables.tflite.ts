/**
 * Hash tables: what TensorFlow Lite keeps as a resource is a list of keys and a list of values here, and whether they are there.
 */

import { ensure } from "../fail.ts";
import { type AnyTensorData, isSameType } from "../operand-type.ts";
import { tensor, wide } from "../params.ts";
import type { Filled } from "../phases.ts";
import { elementCount, type Tensor } from "../tensor.ts";
import { tfliteTypes } from "../tflite-types.ts";
import { keyOf, shapeOfStrings, stringsOf } from "./_strings.tflite.ts";

/** True if the table has contents: 1 element. */
export const isImported = tensor("isImported", "TENSOR_BOOL8");
export const tableKeys = wide(tensor("tableKeys"));
export const tableValues = wide(tensor("tableValues"));

/** The types of keys and values that tables may have. */
export const tableTypes = [
  [tfliteTypes.TENSOR_STRING, tfliteTypes.TENSOR_INT64],
  [tfliteTypes.TENSOR_INT64, tfliteTypes.TENSOR_STRING],
] as const;

/** Returns whether elements are strings. */
export function isString({ type }: Pick<Tensor<AnyTensorData>, "type">): boolean {
  return isSameType(type, tfliteTypes.TENSOR_STRING);
}

/** The shape of keys or values, without the bytes of strings. */
export function shapeOf(list: Pick<Tensor<AnyTensorData>, "type" | "dimensions">): readonly number[] {
  return isString(list) ? shapeOfStrings(list) : list.dimensions;
}

/** A key at a place, as a key of a Map. */
export function keysOf(list: Tensor<AnyTensorData>): (place: number) => string | bigint {
  if (!isString(list)) return (place) => BigInt(list.data[place]);
  const at = stringsOf(list);
  return (place) => keyOf(at(place));
}

/** Checks that there is a value for each key. */
export function checkTable(keys: Pick<Tensor<AnyTensorData>, "type" | "dimensions">, values: typeof keys): void {
  const [first, second] = [elementCount(shapeOf(keys)), elementCount(shapeOf(values))];
  ensure(first === second, () => `expected as many values as keys, got ${second} values and ${first} keys`);
}

/** The place of each key in a table, for the keys that it has; of equal ones in the table the first. */
export function placesOf(
  table: Tensor<AnyTensorData>,
  wanted: Tensor<AnyTensorData>,
): Filled<ReadonlyMap<string | bigint, number>> {
  const read = keysOf(wanted);
  const left = new Set<string | bigint>();
  // The lengths of strings tell most of them apart.
  const lengths = new Set<number>();
  const collect = (first: number, end: number) => {
    for (let place = first; place < end; place++) {
      const key = read(place);
      left.add(key);
      lengths.add(typeof key === "string" ? key.length : 0);
    }
  };
  const found = new Map<string | bigint, number>();
  const at = keysOf(table);
  const lengthAt = isString(table) ? stringsOf(table) : undefined;
  const find = (first: number, end: number) => {
    for (let place = first; place < end && left.size > 0; place++) {
      if (lengthAt !== undefined && !lengths.has(lengthAt(place).length)) continue;
      const key = at(place);
      if (left.delete(key)) found.set(key, place);
    }
  };
  return {
    data: found,
    phases: [
      { units: elementCount(shapeOf(wanted)), cost: 64, inTurn: true, compute: collect },
      { units: elementCount(shapeOf(table)), cost: 16, inTurn: true, compute: find },
    ],
  };
}
