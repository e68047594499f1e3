/**
 * Values of constants: little-endian bytes to numbers and back.
 */
import { type AnyOperandType, fromFloat16Bits, toFloat16Bits } from "@nnhal/operations";
import { ensure, type Place } from "../error.ts";
import type { TensorTypeName } from "../schema/codes.ts";

const LEAST_INT32 = -0x8000_0000;
const GREATEST_INT32 = 0x7fff_ffff;

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The values of an integer constant; INT64 ones must fit in 32 bits, the HAL's only size. */
export function integersOf(type: TensorTypeName, bytes: Uint8Array, place: Place): number[] {
  ensure(type === "INT32" || type === "INT64", place, () => `expected INT32 or INT64, got ${type}`);
  const view = viewOf(bytes);
  if (type === "INT32") return Array.from({ length: bytes.length / 4 }, (_, i) => view.getInt32(4 * i, true));
  return Array.from({ length: bytes.length / 8 }, (_, i) => {
    const value = Number(view.getBigInt64(8 * i, true));
    // Shapes and slices say "to the end" with the greatest integer of their type.
    if (value === Number(2n ** 63n - 1n)) return GREATEST_INT32;
    ensure(
      value >= LEAST_INT32 && value <= GREATEST_INT32,
      place,
      () => `the HAL has 32-bit integers only, and ${value} does not fit`,
    );
    return value;
  });
}

export function bytesOfIntegers(values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(4 * values.length);
  const view = viewOf(bytes);
  for (const [i, value] of values.entries()) view.setInt32(4 * i, value, true);
  return bytes;
}

/** The same as INT64. */
export function bytesOfWide(values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(8 * values.length);
  const view = viewOf(bytes);
  for (const [i, value] of values.entries()) view.setBigInt64(8 * i, BigInt(value), true);
  return bytes;
}

/** One float as an element of a tensor of the given type, or of FLOAT32 if that is not a float type. */
export function bytesOfFloat(value: number, type: AnyOperandType): Uint8Array {
  const isHalf = type === "TENSOR_FLOAT16";
  const bytes = new Uint8Array(isHalf ? 2 : 4);
  if (isHalf) viewOf(bytes).setUint16(0, toFloat16Bits(value), true);
  else viewOf(bytes).setFloat32(0, value, true);
  return bytes;
}

/** The value of a constant of one element; undefined if it has more, or is not a number. */
export function numberOf(type: TensorTypeName, bytes: Uint8Array): number | undefined {
  const view = viewOf(bytes);
  switch (`${type} ${bytes.length}`) {
    case "FLOAT32 4":
      return view.getFloat32(0, true);
    case "FLOAT16 2":
      return fromFloat16Bits(view.getUint16(0, true));
    case "INT32 4":
      return view.getInt32(0, true);
    case "UINT8 1":
      return view.getUint8(0);
    case "INT8 1":
      return view.getInt8(0);
    default:
      return undefined;
  }
}
