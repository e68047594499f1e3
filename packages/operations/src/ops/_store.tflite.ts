/**
 * Integers as elements of results, which may be 64-bit.
 */
import type { AnyTensorData } from "../operand-type.ts";
import { isLongs } from "./_integers.tflite.ts";

/** Writes an integer at a place. */
export type StoreInteger = (place: number, value: number) => void;

/** A function that writes integers as elements. */
export function integerStore(data: AnyTensorData): StoreInteger {
  if (isLongs(data)) {
    return (place, value) => {
      data[place] = BigInt(value);
    };
  }
  return (place, value) => {
    data[place] = value;
  };
}

/** Writes integers as the first elements. */
export function storeIntegers(values: readonly number[], data: AnyTensorData): void {
  values.forEach((value, place) => {
    integerStore(data)(place, value);
  });
}
