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

/** The types of C that a struct may have, with their sizes in bytes, which are their alignments too. */
const fieldSizes = { bool: 1, int8: 1, uint8: 1, int16: 2, uint16: 2, int32: 4, uint32: 4, float32: 4, float64: 8 };

/** The type of a field of a C struct. */
export type StructField = keyof typeof fieldSizes;

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
    const size = fieldSizes[type];
    const offset = Math.ceil(end / size) * size;
    end = offset + size;
    return { name, type, offset };
  });
  const names = Object.keys(fields).join(", ");
  ensure(bytes.length >= end, () => `the struct of ${names} has ${end} bytes, here are ${bytes.length}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const values = places.map(({ name, type, offset }) => [name, fieldAt(view, type, offset)] as const);
  // By construction: a value of the field's type for each name.
  return Object.fromEntries(values) as unknown as StructValues<Fields>;
}

function fieldAt(view: DataView, type: StructField, offset: number): number | boolean {
  switch (type) {
    case "bool":
      return view.getUint8(offset) !== 0;
    case "int8":
      return view.getInt8(offset);
    case "uint8":
      return view.getUint8(offset);
    case "int16":
      return view.getInt16(offset, true);
    case "uint16":
      return view.getUint16(offset, true);
    case "int32":
      return view.getInt32(offset, true);
    case "uint32":
      return view.getUint32(offset, true);
    case "float32":
      return view.getFloat32(offset, true);
    case "float64":
      return view.getFloat64(offset, true);
  }
}
