/**
 * Decoding and encoding of many elements in parts, with a pause after each, so that large arguments and constants do not block the
 * event loop.
 */
import {
  type AnyOperandType,
  byteLength,
  copyTensorData,
  createData,
  decodeTensorData,
  elementCount,
  encodeTensorData,
  isView,
  numbersPerElement,
  type TensorData,
} from "@nnhal/operations";

/** Elements, or bytes, between two pauses: about two milliseconds for float16, which is slowest. */
export const PART = 1 << 18;

/** As `decodeTensorData`. */
export function* decodeInParts(type: AnyOperandType, bytes: Uint8Array, count: number): Generator<void, TensorData> {
  if (count <= PART || isView(type, bytes)) return decodeTensorData(type, bytes, count);
  const data = createData(type, count);
  for (let start = 0; start < count; start += PART) {
    const length = Math.min(PART, count - start);
    data.set(copyTensorData(type, bytes, length, byteLength(type, start)), start * numbersPerElement(type));
    yield;
  }
  return data;
}

/** The number of elements of a value that lies in some bytes. An OEM scalar has all of them, whatever their number is. */
export function countIn(type: AnyOperandType, dimensions: readonly number[], bytes: Uint8Array): number {
  return type === "OEM" ? bytes.length : elementCount(dimensions);
}

/** As `encodeTensorData`. */
export function* encodeInParts(type: AnyOperandType, data: TensorData, bytes: Uint8Array): Generator<void, void> {
  if (data.length <= PART) return encodeTensorData(type, data, bytes);
  const numbers = numbersPerElement(type);
  const count = data.length / numbers;
  for (let start = 0; start < count; start += PART) {
    const part = data.subarray(start * numbers, (start + PART) * numbers);
    encodeTensorData(type, part, bytes.subarray(byteLength(type, start)));
    yield;
  }
}
