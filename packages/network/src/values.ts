/**
 * From what an application passes to the bytes of an input or state.
 */
import { expectAttached } from "./bytes.ts";
import { byteLengthOf, type ElementArray, elementFacts, elementsOfReal, isQuantized, realArrayOf } from "./elements.ts";
import { check, NetworkError } from "./error.ts";
import type { Value } from "./session.ts";
import { elementsOf } from "./tensor.ts";
import { infoText, type NumericInfo, type TensorInfo } from "./tensor-info.ts";
import { messageOf, shapeText } from "./text.ts";

/** Numbers in lists, one level for each dimension, or all in one list. */
export type NumberList = readonly (number | bigint | boolean | NumberList)[];

/** Strings in lists, one level for each dimension, or all in one list. A Uint8Array is a string of any bytes. */
export type StringList = readonly (string | Uint8Array | StringList)[];

/** Elements with their extents, such as a result of another model. */
export interface ShapedData {
  readonly data: ArrayBufferView | NumberList | StringList;
  readonly shape?: readonly number[] | undefined;
}

/** A value that is not a picture. */
export type PlainValue = number | bigint | boolean | string | NumberList | StringList | ArrayBufferView | ShapedData;

/**
 * The bytes of a value.
 *
 * Numbers, lists, Float32Array and Float64Array are real values: they are quantised if the tensor is. An array of the tensor's own
 * element type is its elements, as `raw` returns them. Any other array is WRONG_TYPE.
 */
export function encodeValue(value: PlainValue, info: NumericInfo, what: string): Value {
  if (typeof value === "number" || typeof value === "boolean" || typeof value === "bigint") {
    return encodeNumbers([value], [], info, what);
  }
  if (ArrayBuffer.isView(value)) return encodeView(value, undefined, info, what);
  if (isList(value)) {
    const shape = shapeOfList(value, what);
    return encodeNumbers(flatten(value, shape, [], what), shape.length > 1 ? shape : undefined, info, what);
  }
  if (isShaped(value)) {
    const { data, shape } = value;
    if (ArrayBuffer.isView(data)) return encodeView(data, shape, info, what);
    const own = shapeOfList(data, what);
    return encodeNumbers(flatten(data, own, [], what), shape ?? (own.length > 1 ? own : undefined), info, what);
  }
  throw new NetworkError(
    "WRONG_TYPE",
    `${what} ${infoText(info)} takes ${describeWanted(info)}; it is ${kindOf(value)}`,
  );
}

/** Values that an input takes, for messages. */
function describeWanted(info: NumericInfo): string {
  const { type, quantization } = info;
  const own = type === "float16" ? "Uint16Array of its bits" : elementFacts[type].array.name;
  const elements = `${own}${isQuantized(quantization) ? " of its quantised elements" : ""}`;
  const real = ["Float32Array", "Float64Array"].filter((name) => isFloating(info) && name !== own).join(", ");
  return `numbers, lists of numbers, ${real === "" ? "" : `${real} of real values, `}or a ${elements}`;
}

/** True if real values may have fractions. */
function isFloating({ type, quantization }: NumericInfo): boolean {
  return realArrayOf(type, quantization).name.startsWith("Float") && !type.endsWith("int64");
}

function encodeView(
  view: ArrayBufferView,
  given: readonly number[] | undefined,
  info: NumericInfo,
  what: string,
): Value {
  expectAttached(view, `${what} ${infoText(info)}`);
  const { type } = info;
  const name = Object.prototype.toString.call(view).slice(8, -1);
  const { array } = elementFacts[type];
  const isOwn =
    name === array.name || (type === "uint8" && name === "Uint8ClampedArray") || name === `F${type.slice(1)}Array`;
  if (isOwn) {
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    return { bytes, shape: shapeFor(view.byteLength / byteLengthOf(type, 1), given, info, what) };
  }
  const isReal = view instanceof Float32Array || view instanceof Float64Array;
  check(
    isReal && isFloating(info),
    "WRONG_TYPE",
    () => `${what} ${infoText(info)} takes ${describeWanted(info)}; it is a ${name}, which is not converted`,
  );
  const shape = shapeFor(view.length / (elementFacts[type].parts ?? 1), given, info, what);
  return { bytes: bytesOf(convertNumbers(view, info, what)), shape };
}

function encodeNumbers(
  numbers: readonly (number | bigint | boolean)[],
  given: readonly number[] | undefined,
  info: NumericInfo,
  what: string,
): Value {
  const { parts = 1 } = elementFacts[info.type];
  const shape = shapeFor(numbers.length / parts, given, info, what);
  return { bytes: bytesOf(convertNumbers(numbers, info, what)), shape };
}

function convertNumbers(values: ArrayLike<number | bigint | boolean>, info: NumericInfo, what: string): ElementArray {
  try {
    return elementsOfReal(info.type, info.quantization, values);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new NetworkError("WRONG_VALUE", `${what} ${infoText(info)}: ${messageOf(error)}`, { cause: error });
  }
}

/** The extents of a value: those that are given if they fit the tensor, else the tensor's if the number of elements fits. */
export function shapeFor(
  count: number,
  given: readonly number[] | undefined,
  info: TensorInfo,
  what: string,
): readonly number[] {
  const { shape } = info;
  const describeNeed = () => `${what} ${infoText(info)}`;
  const isShape =
    given === undefined || (Array.isArray(given) && given.every((extent) => Number.isInteger(extent) && extent >= 0));
  check(isShape, "WRONG_SHAPE", () => `${describeNeed()}: its shape is not a list of whole numbers`);
  if (given !== undefined && given.length > 0) {
    const size = elementsOf(given);
    check(
      size === count,
      "WRONG_SIZE",
      () => `${describeNeed()}: its shape ${shapeText(given)} has ${size} elements, its data ${count}`,
    );
    const fits = fitShape(given, shape);
    check(
      fits !== undefined,
      "WRONG_SHAPE",
      () => `${describeNeed()} was given a value of the shape ${shapeText(given)}`,
    );
    return fits;
  }
  const open = shape.filter((extent) => extent === 0).length;
  const known = shape.reduce((product, extent) => product * (extent === 0 ? 1 : extent), 1);
  if (shape.length > 0 && open === 0) {
    check(count === known, "WRONG_SIZE", () => `${describeNeed()} has ${countText(known)}; ${count} were given`);
    return shape;
  }
  if (open === 1) {
    check(
      count % known === 0,
      "WRONG_SIZE",
      () => `${describeNeed()} has a multiple of ${countText(known)}; ${count} were given`,
    );
    return shape.map((extent) => (extent === 0 ? count / known : extent));
  }
  throw new NetworkError("WRONG_SHAPE", `${describeNeed()} has several open extents: give { data, shape }`);
}

/** A given shape as the tensor's rank has it, where leading extents of 1 do not count; undefined if it does not fit. */
function fitShape(given: readonly number[], shape: readonly number[]): readonly number[] | undefined {
  if (shape.length === 0) return given;
  const missing = shape.length - given.length;
  const same = missing < 0 ? given.slice(-missing) : [...Array<number>(missing).fill(1), ...given];
  const isDropped = missing >= 0 || given.slice(0, -missing).every((extent) => extent === 1);
  return isDropped && same.every((extent, place) => shape[place] === 0 || shape[place] === extent) ? same : undefined;
}

function countText(elements: number): string {
  return `${elements} element${elements === 1 ? "" : "s"}`;
}

function bytesOf(data: ElementArray): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

function isList(value: unknown): value is NumberList {
  return Array.isArray(value);
}

export function isShaped(value: unknown): value is ShapedData {
  return (
    typeof value === "object" &&
    value !== null &&
    "data" in value &&
    (ArrayBuffer.isView(value.data) || isList(value.data))
  );
}

/** Extents of a list, from its first items. */
export function shapeOfList(list: NumberList | StringList, what: string): number[] {
  const shape: number[] = [];
  let item: unknown = list;
  for (; isList(item); item = item[0]) {
    shape.push(item.length);
    check(shape.length <= 32, "WRONG_SHAPE", () => `${what}: its lists are more than 32 deep`);
  }
  return shape;
}

/** All numbers of a list in order. Throws for one whose lists have different lengths. */
function flatten(
  list: NumberList | StringList,
  shape: readonly number[],
  into: (number | bigint | boolean)[],
  what: string,
  depth = 0,
): readonly (number | bigint | boolean)[] {
  const length = shape[depth];
  check(
    list.length === length,
    "WRONG_SHAPE",
    () => `${what}: its lists differ: one of ${length} items is beside one of ${list.length}`,
  );
  for (const item of list) {
    const isLeaf = depth === shape.length - 1;
    if (isList(item) && !isLeaf) flatten(item, shape, into, what, depth + 1);
    else if (!isList(item) && isLeaf) {
      const isNumber = typeof item === "number" || typeof item === "bigint" || typeof item === "boolean";
      check(isNumber, "WRONG_TYPE", () => `${what}: its list has ${kindOf(item)} among its numbers`);
      into.push(item);
    } else throw new NetworkError("WRONG_SHAPE", `${what}: its lists are not equally deep`);
  }
  return into;
}

/** The name of a value's class. The value may be one of names that are those of JavaScript, such as `constructor`. */
function classOf(value: object): string {
  const { constructor: made }: { readonly constructor?: unknown } = Object.getPrototypeOf(value) ?? {};
  return typeof made === "function" ? made.name : "null";
}

/** The items of a list of words that was given as an option, or what else it is. */
export function listItems(value: unknown): string {
  return Array.isArray(value) ? `the list ${JSON.stringify(value.map(String))}` : kindOf(value);
}

/** Type of a value, for messages. */
export function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (value instanceof Promise) return "a promise, which must be awaited";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return `an object of the class ${classOf(value)}`;
  return `a ${typeof value}`;
}
