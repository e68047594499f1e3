/** Values that callers pass, which can be of any type. */
import { Unwritable } from "@nnhal/utils/codec";

/** A list of a caller. Throws Unwritable for any other value. */
export function listOf<Item>(value: readonly Item[], name: string): readonly Item[] {
  if (!Array.isArray(value)) throw new Unwritable(`${name}: expected an array, got ${kindOf(value)}`);
  return value;
}

/** An object of a caller. Throws Unwritable for any other value. */
export function objectOf<Value extends object>(value: Value, name: string): Value {
  if (typeof value !== "object" || value === null)
    throw new Unwritable(`${name}: expected an object, got ${kindOf(value)}`);
  return value;
}

function kindOf(value: unknown): string {
  return value === null || value === undefined ? String(value) : `of type ${typeof value}`;
}
