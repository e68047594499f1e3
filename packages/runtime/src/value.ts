/**
 * Values that callers give operands, and the little-endian bytes they become.
 */
import { toFloat16Bits } from "@nnhal/operations";
import { expect, ResultCode } from "./result-code.ts";

/** A tensor's elements or raw bytes in any view, or a scalar's number or boolean. */
export type OperandValue = ArrayBufferView | number | boolean;

/** The bytes of a value: a view on a caller's array, or the bytes of a scalar of one of the HAL's types. */
export function bytesOf(value: OperandValue, type: string, what: string): Uint8Array {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  const isScalar = typeof value === "number" || typeof value === "boolean";
  expect(isScalar, ResultCode.BAD_DATA, () => `${what}: ${typeof value} given where bytes or a number are needed`);
  return scalarBytes(Number(value), type, what);
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
        () => `${what}: ${value} is no INT32`,
      );
      return new Uint8Array(Int32Array.of(value).buffer);
    case "UINT32":
      expect(
        Number.isInteger(value) && value === value >>> 0,
        ResultCode.BAD_DATA,
        () => `${what}: ${value} is no UINT32`,
      );
      return new Uint8Array(Uint32Array.of(value).buffer);
    default:
      expect(false, ResultCode.BAD_DATA, () => `${what}: a number was given for a ${type}`);
  }
}
