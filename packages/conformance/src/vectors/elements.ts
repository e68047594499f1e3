/**
 * Reading the elements of an output's bytes. On its own and plain, so that the kit does not judge a driver by code that
 * the driver uses too.
 */
import { type OperandTypeName, operandTypes } from "@nnhal/types";

type Reader = (view: DataView, offset: number) => number;

const readers: Readonly<Partial<Record<OperandTypeName, Reader>>> = {
  FLOAT32: (view, offset) => view.getFloat32(offset, true),
  TENSOR_FLOAT32: (view, offset) => view.getFloat32(offset, true),
  FLOAT16: (view, offset) => readFloat16(view.getUint16(offset, true)),
  TENSOR_FLOAT16: (view, offset) => readFloat16(view.getUint16(offset, true)),
  INT32: (view, offset) => view.getInt32(offset, true),
  TENSOR_INT32: (view, offset) => view.getInt32(offset, true),
  UINT32: (view, offset) => view.getUint32(offset, true),
  BOOL: (view, offset) => view.getUint8(offset),
  TENSOR_BOOL8: (view, offset) => view.getUint8(offset),
  TENSOR_QUANT8_ASYMM: (view, offset) => view.getUint8(offset),
  TENSOR_QUANT8_ASYMM_SIGNED: (view, offset) => view.getInt8(offset),
  TENSOR_QUANT8_SYMM: (view, offset) => view.getInt8(offset),
  TENSOR_QUANT8_SYMM_PER_CHANNEL: (view, offset) => view.getInt8(offset),
  TENSOR_QUANT16_ASYMM: (view, offset) => view.getUint16(offset, true),
  TENSOR_QUANT16_SYMM: (view, offset) => view.getInt16(offset, true),
};

/** The elements in little-endian bytes. Bytes after the last whole element are left over. */
export function readElements(type: OperandTypeName, bytes: Uint8Array): Float64Array {
  const read = readers[type];
  const { elementSize } = operandTypes[type];
  if (read === undefined) throw new TypeError(`${type} has no elements that can be compared`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const values = new Float64Array(Math.floor(bytes.length / elementSize));
  for (let index = 0; index < values.length; index++) values[index] = read(view, index * elementSize);
  return values;
}

/** sign * 1.fraction * 2^(exponent - 15); without the leading 1 below the least exponent, infinite or NaN at the greatest. */
function readFloat16(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
