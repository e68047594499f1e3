/**
 * Sizes and values of the tensors that go into a model and come out of it.
 */
import { byteLength, decodeTensorData } from "@nnhal/backend";
import { type AnyTensorData, typeText } from "@nnhal/operations";
import type { TensorDescription } from "@nnhal/tflite";
import { openShapeText, plain } from "./text.ts";

/** Facts of a tensor that its size and values depend on. */
export type TensorShape = Pick<TensorDescription, "type" | "shape" | "scale" | "zeroPoint">;

/** A tensor with its elements. */
export interface TensorValue {
  readonly info: TensorShape;
  /** Little-endian. */
  readonly bytes: Uint8Array;
}

/** The number of elements of a shape; 0 if an extent is unknown. */
export function elementsOf(shape: readonly number[]): number {
  return shape.reduce((count, extent) => count * extent, 1);
}

/** Bytes that a tensor takes. */
export function byteSize({ type, shape }: Pick<TensorShape, "type" | "shape">): number {
  return byteLength(type, elementsOf(shape));
}

/** The real values of a tensor's elements: quantised ones by scale and zero point, true as 1. */
export function realValues({ type, shape, scale, zeroPoint }: TensorShape, bytes: Uint8Array): Float64Array {
  const data = decodeTensorData(type, bytes, elementsOf(shape)) as AnyTensorData;
  if (data instanceof BigInt64Array || data instanceof BigUint64Array) return Float64Array.from(data, Number);
  if (scale === 0) return Float64Array.from(data);
  return Float64Array.from(data, (element) => (element - zeroPoint) * scale);
}

/** A tensor of a model in a message: `"image" (TENSOR_FLOAT32 [1, 224, 224, 3])`; extents that a run determines are `?`. */
export function tensorText({ name, type, shape }: Pick<TensorDescription, "name" | "type" | "shape">): string {
  const label = plain(name);
  const kind = `${typeText(type)} ${openShapeText(shape)}`;
  return label === "" ? kind : `"${label}" (${kind})`;
}
