/** Tensors of requests and responses, and their forms: JSON, and bytes. */
import type { ElementArray } from "@nnhal/network";
import { fromFloat16Bits, toFloat16Bits } from "@nnhal/operations";
import { arrayOf, type Datatype, type NumericDatatype, rangeOf } from "./datatypes.ts";
import { expectValid, RequestError, valueText } from "./errors.ts";

/** Elements: one array, or for BYTES one for each element. */
export type Content = ElementArray | readonly Uint8Array[];

/** A tensor of either protocol. */
export interface Tensor {
  readonly name: string;
  readonly datatype: Datatype;
  readonly shape: readonly number[];
  readonly content: Content;
}

/** Maximum axes of a tensor. */
export const MOST_AXES = 32;

/** Maximum strings of a request: each costs more than its bytes. */
const mostStrings = 2 ** 17;

/** Checks the number of strings of a request, before they are read. Throws a RequestError. */
export function checkStrings(tensors: readonly Pick<Tensor, "datatype" | "shape">[]): void {
  const count = tensors.reduce((sum, { datatype, shape }) => sum + (datatype === "BYTES" ? countOf(shape) : 0), 0);
  if (count <= mostStrings) return;
  throw new RequestError("tooLarge", `the request has ${count} elements of BYTES; ${mostStrings} are the most`);
}

/** Bytes that a string takes in addition to its content. */
const perString = 128;

/** Returns the width and number of the rows that strings are computed in: each is as wide as the longest. */
export function rowsOfStrings(content: readonly Uint8Array[]): { readonly count: number; readonly width: number } {
  return { count: content.length, width: 4 + content.reduce((most, { length }) => Math.max(most, length), 0) };
}

/** Returns the bytes that tensors take, with those of the rows of strings. */
export function footprintOf(tensors: readonly Pick<Tensor, "content">[]): number {
  const buffers = new Set<ArrayBufferLike>();
  let sum = 0;
  for (const { content } of tensors) {
    if (!isByteList(content)) {
      buffers.add(content.buffer);
      continue;
    }
    const { count, width } = rowsOfStrings(content);
    sum += count * (width + perString);
    for (const { buffer } of content) buffers.add(buffer);
  }
  for (const { byteLength } of buffers) sum += byteLength;
  return sum;
}

/** Returns the number of elements of a shape. */
export function countOf(shape: readonly number[]): number {
  return shape.reduce((product, extent) => product * extent, 1);
}

/** Returns true if the content of a tensor is bytes for each element. */
export function isByteList(content: Content): content is readonly Uint8Array[] {
  return Array.isArray(content);
}

/** Reads elements from JSON, in nested lists of the shape, or in one list. Throws a RequestError. */
export function contentOfJson(datatype: Datatype, shape: readonly number[], data: unknown, what: string): Content {
  const items = flatItems(data, shape, what);
  if (datatype === "BYTES") {
    const encoder = new TextEncoder();
    return items.map((item) => {
      expectValid(typeof item === "string", () => `${what}: BYTES are strings in JSON, not ${valueText(item)}`);
      return encoder.encode(item);
    });
  }
  const content = new (arrayOf(datatype))(items.length);
  const read = readerOf(datatype, what);
  // The reader returns elements of the array's type: BigInt for 64 bits.
  const into = content as Record<number, number | bigint>;
  for (let index = 0; index < items.length; index++) into[index] = read(items[index]);
  return content;
}

/** Returns the items of `data` in one list. */
function flatItems(data: unknown, shape: readonly number[], what: string): readonly unknown[] {
  expectValid(Array.isArray(data), () => `${what}: its data are not a list`);
  const count = countOf(shape);
  const isNested = shape.length > 1 && data.some(Array.isArray);
  if (!isNested) {
    expectValid(
      data.length === count,
      () => `${what}: its shape [${shape}] has ${count} elements, its data ${data.length}`,
    );
    return data;
  }
  const items: unknown[] = [];
  const walk = (list: readonly unknown[], axis: number) => {
    expectValid(
      list.length === shape[axis],
      () => `${what}: a list of ${list.length} items where its shape [${shape}] has the extent ${shape[axis]}`,
    );
    for (const item of list) {
      if (axis === shape.length - 1) items.push(item);
      else {
        expectValid(Array.isArray(item), () => `${what}: its lists are less deep than its shape [${shape}]`);
        walk(item, axis + 1);
      }
    }
  };
  walk(data, 0);
  return items;
}

const notNumbers: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  "-Infinity": Number.NEGATIVE_INFINITY,
};

/** Returns a function that reads an item of JSON as an element. */
function readerOf(datatype: NumericDatatype, what: string): (item: unknown) => number | bigint {
  const refuse = (item: unknown): never => {
    expectValid(false, () => `${what}: ${valueText(item)} is not a value of ${datatype}`);
    throw new Error("unreachable");
  };
  if (datatype === "BOOL") {
    return (item) => (item === true || item === 1 ? 1 : item === false || item === 0 ? 0 : refuse(item));
  }
  if (datatype === "INT64" || datatype === "UINT64") {
    const fit = datatype === "INT64" ? BigInt.asIntN : BigInt.asUintN;
    return (item) => {
      const isExact = Number.isSafeInteger(item) || (typeof item === "string" && /^-?\d{1,20}$/.test(item));
      // Numbers above 2^53 have lost digits when JSON was read.
      const value = isExact ? BigInt(item as number | string) : refuse(item);
      return fit(64, value) === value ? value : refuse(item);
    };
  }
  const range = rangeOf(datatype);
  if (range !== undefined) {
    const [least, greatest] = range;
    return (item) =>
      typeof item === "number" && Number.isInteger(item) && item >= least && item <= greatest ? item : refuse(item);
  }
  const most = { FP16: 65_504, FP32: 3.4028234663852886e38, FP64: Number.MAX_VALUE }[
    datatype as "FP16" | "FP32" | "FP64"
  ];
  const bits = datatype === "FP16" ? toFloat16Bits : (value: number) => value;
  return (item) => {
    const special = typeof item === "string" && Object.hasOwn(notNumbers, item) ? notNumbers[item] : undefined;
    if (special !== undefined) return bits(special);
    return typeof item === "number" && Math.abs(item) <= most ? bits(item) : refuse(item);
  };
}

/**
 * Returns the data of a tensor as the text of a JSON list. Values without a JSON number are the strings "NaN", "Infinity" and
 * "-Infinity".
 */
export function jsonTextOf({ datatype, content }: Tensor): string {
  if (isByteList(content)) {
    const decoder = new TextDecoder();
    return JSON.stringify(content.map((bytes) => decoder.decode(bytes)));
  }
  const numbers = numbersOf(datatype, content);
  if (datatype === "BOOL") return `[${numbers.map((number) => number !== 0)}]`;
  if (!datatype.startsWith("FP") || numbers.every(Number.isFinite)) return `[${numbers.join(",")}]`;
  return JSON.stringify(numbers.map((number) => (Number.isFinite(number) ? number : String(number))));
}

/** Returns the numbers that elements represent. */
export function numbersOf(datatype: Datatype, elements: ElementArray): readonly (number | bigint)[] {
  if (elements instanceof BigInt64Array || elements instanceof BigUint64Array) return Array.from(elements);
  return datatype === "FP16" ? Array.from(elements, fromFloat16Bits) : Array.from(elements);
}

/** Reads elements from little-endian bytes: views if their alignment permits it. Throws a RequestError. */
export function contentOfBytes(datatype: Datatype, shape: readonly number[], bytes: Uint8Array, what: string): Content {
  const count = countOf(shape);
  if (datatype === "BYTES") return byteList(bytes, count, what);
  const array = arrayOf(datatype);
  const size = array.BYTES_PER_ELEMENT;
  expectValid(
    bytes.length === count * size,
    () => `${what}: its shape [${shape}] of ${datatype} has ${count * size} bytes, its data ${bytes.length}`,
  );
  if (datatype === "BOOL") {
    expectValid(
      bytes.every((byte) => byte <= 1),
      () => `${what}: BOOL is a byte of 0 or 1; there is another one`,
    );
  }
  const at = bytes.byteOffset % size === 0 ? bytes : Uint8Array.prototype.slice.call(bytes);
  return new array(at.buffer, at.byteOffset, count);
}

/** Reads elements with their lengths before them. */
function byteList(bytes: Uint8Array, count: number, what: string): readonly Uint8Array[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const list: Uint8Array[] = [];
  let place = 0;
  while (place < bytes.length) {
    const length = bytes.length - place >= 4 ? view.getUint32(place, true) : Number.POSITIVE_INFINITY;
    expectValid(
      place + 4 + length <= bytes.length,
      () => `${what}: an element of BYTES at byte ${place} ends after the ${bytes.length} bytes of the tensor`,
    );
    list.push(bytes.subarray(place + 4, place + 4 + length));
    place += 4 + length;
  }
  expectValid(list.length === count, () => `${what}: its shape has ${count} elements, its data ${list.length}`);
  return list;
}

/** Returns the bytes of a tensor, little-endian. */
export function bytesOf({ content }: Pick<Tensor, "content">): Uint8Array {
  if (!isByteList(content)) return new Uint8Array(content.buffer, content.byteOffset, content.byteLength);
  const all = new Uint8Array(content.reduce((size, { length }) => size + 4 + length, 0));
  const view = new DataView(all.buffer);
  let place = 0;
  for (const element of content) {
    view.setUint32(place, element.length, true);
    all.set(element, place + 4);
    place += 4 + element.length;
  }
  return all;
}
