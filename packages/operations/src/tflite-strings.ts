/**
 * Strings as the bytes of a TENSOR_STRING, and back.
 */

import { ensure } from "./fail.ts";
import { formatShape } from "./shape.ts";
import { elementCount } from "./tensor.ts";

/** Bytes of a row before those of its string: the string's length. */
export const lengthBytes = 4;

/** A TENSOR_STRING. */
export interface StringTensor {
  /** One row for each string. */
  readonly bytes: Uint8Array;
  /** The shape of the strings, then the bytes of a row. */
  readonly dimensions: readonly number[];
}

/**
 * The bytes of a TENSOR_STRING. Strings are written in UTF-8; a Uint8Array is a string of any bytes. `shape`: that of the strings, a list by
 * default. `width`: the bytes of a row, by default as many as the longest string needs. Throws an OperationError if the number of strings is
 * not that of the shape, or a string does not fit.
 */
export function encodeStrings(
  strings: readonly (string | Uint8Array)[],
  shape: readonly number[] = [strings.length],
  width?: number,
): StringTensor {
  const encoder = new TextEncoder();
  const rows = strings.map((text) => (typeof text === "string" ? encoder.encode(text) : text));
  ensure(
    elementCount(shape) === rows.length,
    () => `there are ${rows.length} strings where the shape ${formatShape(shape)} has ${elementCount(shape)}`,
  );
  const least = lengthBytes + rows.reduce((most, { length }) => Math.max(most, length), 0);
  const row = width ?? least;
  ensure(row >= least, () => `a row has ${row} bytes where the longest string needs ${least}`);
  const bytes = new Uint8Array(rows.length * row);
  const view = new DataView(bytes.buffer);
  for (const [index, text] of rows.entries()) {
    view.setUint32(index * row, text.length, true);
    bytes.set(text, index * row + lengthBytes);
  }
  return { bytes, dimensions: [...shape, row] };
}

/** The strings of a TENSOR_STRING as bytes, which are views. Throws an OperationError if a length is greater than its row. */
export function decodeStringBytes({ bytes, dimensions }: StringTensor): Uint8Array[] {
  const read = stringReader(bytes, dimensions);
  return Array.from({ length: elementCount(dimensions.slice(0, -1)) }, (_, row) => read(row));
}

/**
 * The strings of a TENSOR_STRING. What is not UTF-8 becomes U+FFFD. Throws an OperationError if a length is greater than its row.
 */
export function decodeStrings(tensor: StringTensor): string[] {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  return decodeStringBytes(tensor).map((bytes) => decoder.decode(bytes));
}

/** Reads the string of a row, as a view of `bytes`. */
export function stringReader(bytes: Uint8Array, dimensions: readonly number[]): (row: number) => Uint8Array {
  const width = dimensions.at(-1) ?? 0;
  ensure(width >= lengthBytes, () => `a row has ${width} bytes where the length of a string takes ${lengthBytes}`);
  const count = elementCount(dimensions);
  ensure(
    bytes.length >= count,
    () => `there are ${bytes.length} bytes where ${formatShape(dimensions)} takes ${count}`,
  );
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return (row) => {
    const length = view.getUint32(row * width, true);
    const most = width - lengthBytes;
    ensure(length <= most, () => `string ${row} has a length of ${length} bytes where its row has ${most}`);
    const first = row * width + lengthBytes;
    return bytes.subarray(first, first + length);
  };
}
