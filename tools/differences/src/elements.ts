/** The element types of quantised tensors, and their typed arrays. */

/** Types that the comparison has. */
export type ElementType = "UINT8" | "INT8" | "INT16" | "INT32" | "INT64" | "FLOAT32";

export type Elements = Uint8Array | Int8Array | Int16Array | Int32Array | BigInt64Array | Float32Array;

const arrays = {
  UINT8: Uint8Array,
  INT8: Int8Array,
  INT16: Int16Array,
  INT32: Int32Array,
  INT64: BigInt64Array,
  FLOAT32: Float32Array,
} as const;

/** The least and the greatest element of the quantised types. */
export const ranges = { UINT8: [0, 255], INT8: [-128, 127], INT16: [-32768, 32767] } as const;

/** Elements from their bytes, little-endian. */
export function elementsOf(type: ElementType, bytes: Uint8Array): Elements {
  return new arrays[type](bytes.slice().buffer);
}

/** The bytes of numbers as elements of a type. */
export function bytesOf(type: ElementType, numbers: readonly number[]): Uint8Array {
  const view = type === "INT64" ? BigInt64Array.from(numbers, BigInt) : arrays[type].from(numbers);
  return new Uint8Array(view.buffer);
}
