/**
 * The kind of value that a field holds, for untrusted values: the declared type is not relied on.
 */

/** Returns whether a value has fields. */
export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Returns whether a value is an array. Not a type guard: its elements are still unchecked. */
export function isList(value: unknown): boolean {
  return Array.isArray(value);
}

/** Returns whether a value is an integer within [0, 2^32). */
export function isUint32(value: unknown): value is number {
  return typeof value === "number" && value >>> 0 === value;
}

/**
 * The element at an index from an untrusted model; undefined if the index is not a number. Any other value would be converted to the
 * name of a property, which takes minutes for a sparse array of greatest length.
 */
export function readUntrusted<Element>(list: readonly Element[], index: unknown): Element | undefined {
  return isUint32(index) ? list[index] : undefined;
}

/** Returns whether a value is an array of integers within [0, 2^32). */
export function isUint32List(value: unknown): value is readonly number[] {
  if (!Array.isArray(value)) return false;
  for (let index = 0; index < value.length; index++) if (!isUint32(value[index])) return false;
  return true;
}

/** Returns whether a value is an array of numbers. */
export function isNumberList(value: unknown): value is readonly number[] {
  if (!Array.isArray(value)) return false;
  for (let index = 0; index < value.length; index++) if (typeof value[index] !== "number") return false;
  return true;
}

/** Returns whether a value is a Uint8Array, also one of another realm. */
export function isBytes(value: unknown): value is Uint8Array {
  return ArrayBuffer.isView(value) && tagOf(value) === "Uint8Array";
}

/** Returns whether a value is an ArrayBuffer or a SharedArrayBuffer, also one of another realm. */
export function isBuffer(value: unknown): value is ArrayBufferLike {
  // Those of this realm, at less cost. One that only claims to be one throws when its length is read.
  if (value instanceof ArrayBuffer) return true;
  if (typeof SharedArrayBuffer !== "undefined" && value instanceof SharedArrayBuffer) return true;
  return isObject(value) && ["ArrayBuffer", "SharedArrayBuffer"].includes(tagOf(value));
}

function tagOf(value: object): string {
  return Object.prototype.toString.call(value).slice("[object ".length, -1);
}
