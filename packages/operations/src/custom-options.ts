/**
 * Options of custom operators of .tflite files: what a file has of them, and what an extension's operation makes of that.
 */
import { ensure } from "./fail.ts";
import type { Param } from "./params.ts";

/** A value in a FlexBuffer. Integers that float64 does not hold exactly are bigint. A list is a vector of any kind, with or without a type. */
export type FlexValue = null | boolean | number | bigint | string | Uint8Array | readonly FlexValue[] | FlexMap;

/** A map in a FlexBuffer. */
export interface FlexMap {
  readonly [name: string]: FlexValue;
}

/** The options of a custom operator as the file has them. */
export interface StoredOptions {
  /** The operator's version, 1 if the file has none. */
  readonly version: number;
  /** The bytes, such as a C struct; none if the file has no options. */
  readonly bytes: Uint8Array;
  /** The bytes as a FlexBuffer with one map; an empty one if there are none. Throws an OperationError for other bytes. */
  map(): FlexMap;
}

/** Values of parameters by name: of a scalar a number or a truth value, of a one-dimensional tensor a list. */
export type OptionValues<Params extends readonly Param[] = readonly Param[]> = {
  readonly [Name in Params[number]["name"]]?: number | boolean | readonly number[] | undefined;
};

/** The type of a field of a C struct. */
export type StructField = "bool" | "int8" | "uint8" | "int16" | "uint16" | "int32" | "uint32" | "float32" | "float64";

/** The types of C that a struct may have: their sizes in bytes, which are their alignments too, and how they are read. */
const fieldTypes: Readonly<Record<StructField, readonly [number, (view: DataView, at: number) => number | boolean]>> = {
  bool: [1, (view, at) => view.getUint8(at) !== 0],
  int8: [1, (view, at) => view.getInt8(at)],
  uint8: [1, (view, at) => view.getUint8(at)],
  int16: [2, (view, at) => view.getInt16(at, true)],
  uint16: [2, (view, at) => view.getUint16(at, true)],
  int32: [4, (view, at) => view.getInt32(at, true)],
  uint32: [4, (view, at) => view.getUint32(at, true)],
  float32: [4, (view, at) => view.getFloat32(at, true)],
  float64: [8, (view, at) => view.getFloat64(at, true)],
};

/** The values of the fields of a struct. */
export type StructValues<Fields extends Readonly<Record<string, StructField>>> = {
  readonly [Name in keyof Fields]: Fields[Name] extends "bool" ? boolean : number;
};

/**
 * Reads a C struct as compilers of Android and Linux lay it out: little-endian, each field at a multiple of its size. An enum is int32. Bytes
 * after the last field are ignored: later versions of a struct may have more. Throws an OperationError if there are fewer bytes.
 */
export function readStruct<const Fields extends Readonly<Record<string, StructField>>>(
  bytes: Uint8Array,
  fields: Fields,
): StructValues<Fields> {
  let end = 0;
  const places = Object.entries(fields).map(([name, type]) => {
    const [size, readAt] = fieldTypes[type];
    const at = Math.ceil(end / size) * size;
    end = at + size;
    return { name, at, readAt };
  });
  const names = Object.keys(fields).join(", ");
  ensure(bytes.length >= end, () => `the struct of ${names} has ${end} bytes, here are ${bytes.length}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  // By construction: a value of the field's type for each name.
  return Object.fromEntries(
    places.map(({ name, at, readAt }) => [name, readAt(view, at)]),
  ) as unknown as StructValues<Fields>;
}
