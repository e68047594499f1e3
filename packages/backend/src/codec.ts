/**
 * Between the bytes of a pool and the typed elements of a tensor. Bytes are little-endian, as is every machine that Node
 * runs on.
 */
import { createData, fromFloat16Bits, type TensorData, toFloat16Bits } from "@nnhal/operations";
import { type OperandTypeName, operandTypes } from "@nnhal/types";

/** Bytes that `count` elements of a type take in a pool. */
export function byteLength(type: OperandTypeName, count: number): number {
  return operandTypes[type].elementSize * count;
}

/**
 * The elements in some bytes: a view on them where the alignment allows it, else a copy; float16 is widened to float32.
 * The bytes are at least as long as `count` elements.
 */
export function decodeTensorData(type: OperandTypeName, bytes: Uint8Array, count: number): TensorData {
  if (type === "FLOAT16" || type === "TENSOR_FLOAT16") {
    const values = new Float32Array(count);
    for (let index = 0; index < count; index++) {
      values[index] = fromFloat16Bits(bytes[2 * index] | (bytes[2 * index + 1] << 8));
    }
    return values;
  }
  const { elementSize } = operandTypes[type];
  const data = createData(type, 0);
  const TypedArray = data.constructor as new (buffer: ArrayBufferLike, offset: number, length: number) => TensorData;
  if (bytes.byteOffset % data.BYTES_PER_ELEMENT === 0) return new TypedArray(bytes.buffer, bytes.byteOffset, count);
  const copy = bytes.slice(0, elementSize * count);
  return new TypedArray(copy.buffer, 0, count);
}

/** Writes elements as a pool holds them. The bytes are at least as long as the elements. */
export function encodeTensorData(type: OperandTypeName, data: TensorData, bytes: Uint8Array): void {
  if (type === "FLOAT16" || type === "TENSOR_FLOAT16") {
    for (let index = 0; index < data.length; index++) {
      const half = toFloat16Bits(data[index]);
      bytes[2 * index] = half & 0xff;
      bytes[2 * index + 1] = half >>> 8;
    }
    return;
  }
  bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
}
