/**
 * Between the bytes of a pool and the typed elements of a tensor. Bytes are little-endian, as is every machine that Node
 * runs on.
 */
import { fromFloat16Bits, toFloat16Bits } from "./float16.ts";
import { type AnyOperandType, type AnyTensorData, elementFactsOf, numbersPerElement } from "./operand-type.ts";
import { createData, dataConstructor, type TensorData } from "./tensor.ts";

/** Bytes that `count` elements of a type take in a pool. */
export function byteLength(type: AnyOperandType, count: number): number {
  return elementFactsOf(type).elementSize * count;
}

/**
 * The elements in some bytes: a view on them if the alignment allows it, else a copy; float16 is widened to float32.
 * The bytes are at least as long as `count` elements.
 */
export function decodeTensorData(type: AnyOperandType, bytes: Uint8Array, count: number): TensorData {
  if (!isView(type, bytes)) return copyTensorData(type, bytes, count);
  const Data = dataConstructor(type);
  return new Data(bytes.buffer, bytes.byteOffset, count * numbersPerElement(type));
}

/** Returns whether `decodeTensorData` returns a view on the bytes instead of a copy. */
export function isView(type: AnyOperandType, bytes: Uint8Array): boolean {
  return !isHalf(type) && bytes.byteOffset % dataConstructor(type).BYTES_PER_ELEMENT === 0;
}

/** Like `decodeTensorData`, from `offset`, but always a copy: later writes to the memory do not change it. */
export function copyTensorData(type: AnyOperandType, bytes: Uint8Array, count: number, offset = 0): TensorData {
  const data = createData(type, count);
  if (isHalf(type)) {
    for (let index = 0; index < count; index++) {
      const place = offset + 2 * index;
      data[index] = fromFloat16Bits(bytes[place] | (bytes[place + 1] << 8));
    }
    return data;
  }
  if (type === "INT32" && count === 1) {
    // Most constants are these. An array of one element has no buffer until it is asked for it, which takes longer.
    data[0] = bytes[offset] | (bytes[offset + 1] << 8) | (bytes[offset + 2] << 16) | (bytes[offset + 3] << 24);
    return data;
  }
  new Uint8Array(data.buffer).set(bytes.subarray(offset, offset + data.byteLength));
  return data;
}

/**
 * Writes elements as a pool holds them: all of a value, or the numbers of some elements. The bytes are at least as long as the elements.
 */
export function encodeTensorData(type: AnyOperandType, data: AnyTensorData, bytes: Uint8Array): void {
  if (isHalf(type)) {
    const numbers = data as TensorData;
    for (let index = 0; index < data.length; index++) {
      const half = toFloat16Bits(numbers[index]);
      bytes[2 * index] = half & 0xff;
      bytes[2 * index + 1] = half >>> 8;
    }
    return;
  }
  if (data.length <= fewNumbers && data instanceof Float32Array) {
    few.set(data);
    for (let index = 0; index < data.byteLength; index++) bytes[index] = bytesOfFew[index];
    return;
  }
  bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
}

/** An array of a few numbers has no buffer until it is asked for it, which takes longer than to copy them. */
const fewNumbers = 8;
const few = new Float32Array(fewNumbers);
const bytesOfFew = new Uint8Array(few.buffer);

function isHalf(type: AnyOperandType): boolean {
  return type === "FLOAT16" || type === "TENSOR_FLOAT16";
}
