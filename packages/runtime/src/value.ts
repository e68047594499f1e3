/**
 * Values of operands as callers pass them, and their little-endian bytes.
 */
import { toFloat16Bits } from "@nnhal/operations";
import type { OperandTypeName } from "@nnhal/types";
import { describe, typeOfView, withArticle } from "./given.ts";
import { expect, ResultCode } from "./result-code.ts";

/**
 * A tensor's or scalar's elements in an array of its own type, its raw bytes, or a scalar's number or boolean.
 *
 * A Uint8Array (a Buffer is one) and a DataView are raw bytes for every type. Of the other arrays each type accepts its own:
 * Float32Array for FLOAT32, Int32Array and Uint32Array for INT32 and UINT32, Int16Array for QUANT16_SYMM, Uint16Array for
 * QUANT16_ASYMM, Int8Array for signed bytes, Uint8ClampedArray for QUANT8_ASYMM, and Uint16Array (the bits) or Float16Array,
 * if the platform has it, for FLOAT16. BOOL and BOOL8 accept bytes. Types of extensions and OEM types accept any array.
 */
export type OperandValue = ArrayBufferView | number | boolean;

const halves = ["Uint16Array", "Float16Array"];
const signedBytes = ["Int8Array"];

/** Beside raw bytes; undefined: any array. */
const arrays: Readonly<Record<OperandTypeName, readonly string[] | undefined>> = {
  FLOAT32: ["Float32Array"],
  TENSOR_FLOAT32: ["Float32Array"],
  FLOAT16: halves,
  TENSOR_FLOAT16: halves,
  INT32: ["Int32Array"],
  TENSOR_INT32: ["Int32Array"],
  UINT32: ["Uint32Array"],
  BOOL: [],
  TENSOR_BOOL8: [],
  TENSOR_QUANT8_ASYMM: ["Uint8ClampedArray"],
  TENSOR_QUANT8_ASYMM_SIGNED: signedBytes,
  TENSOR_QUANT8_SYMM: signedBytes,
  TENSOR_QUANT8_SYMM_PER_CHANNEL: signedBytes,
  TENSOR_QUANT16_SYMM: ["Int16Array"],
  TENSOR_QUANT16_ASYMM: ["Uint16Array"],
  SUBGRAPH: [],
  OEM: undefined,
  TENSOR_OEM_BYTE: undefined,
};

const arraysByName: ReadonlyMap<string, readonly string[] | undefined> = new Map(Object.entries(arrays));

/**
 * The bytes of a value: a view on a caller's array, or the bytes of a scalar of one of the HAL's types. Throws BAD_DATA for
 * an array of another type, naming both.
 */
export function bytesOf(value: OperandValue, type: string, what: string): Uint8Array {
  if (ArrayBuffer.isView(value)) {
    // The most frequent arrays are recognised without their names.
    const isUsual = value instanceof Uint8Array || (value instanceof Float32Array && type === "TENSOR_FLOAT32");
    if (!isUsual) expectArrayOf(type, value, what);
    // Views of other classes, such as Buffer, behave differently when a part of them is taken.
    if (value instanceof Uint8Array && Object.getPrototypeOf(value) === Uint8Array.prototype) return value;
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  return bytesOfScalar(value, type, what);
}

function bytesOfScalar(value: unknown, type: string, what: string): Uint8Array {
  const isScalar = typeof value === "number" || typeof value === "boolean";
  expect(isScalar, ResultCode.BAD_DATA, () => `${what}: ${describe(value)} was given for ${withArticle(type)}`);
  return scalarBytes(Number(value), type, what);
}

function expectArrayOf(type: string, value: ArrayBufferView, what: string): void {
  const own = arraysByName.get(type);
  if (own === undefined) return;
  const name = typeOfView(value);
  const isOne = name === "Uint8Array" || name === "DataView" || own.includes(name);
  const needed = [...own, "raw bytes in a Uint8Array or DataView"].join(", ");
  expect(
    isOne,
    ResultCode.BAD_DATA,
    () => `${what}: ${withArticle(name)} was given for ${withArticle(type)}, which takes ${needed}`,
  );
}

function scalarBytes(value: number, type: string, what: string): Uint8Array {
  switch (type) {
    case "FLOAT32":
      return new Uint8Array(Float32Array.of(value).buffer);
    case "FLOAT16":
      return new Uint8Array(Uint16Array.of(toFloat16Bits(value)).buffer);
    case "BOOL":
      return Uint8Array.of(value === 0 ? 0 : 1);
    case "INT32":
      expect(
        Number.isInteger(value) && value === (value | 0),
        ResultCode.BAD_DATA,
        () => `${what}: expected an INT32, got ${value}`,
      );
      return new Uint8Array(Int32Array.of(value).buffer);
    case "UINT32":
      expect(
        Number.isInteger(value) && value === value >>> 0,
        ResultCode.BAD_DATA,
        () => `${what}: expected a UINT32, got ${value}`,
      );
      return new Uint8Array(Uint32Array.of(value).buffer);
    default:
      expect(false, ResultCode.BAD_DATA, () => `${what}: a number was given for a ${type}`);
  }
}
