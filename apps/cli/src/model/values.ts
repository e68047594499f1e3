/**
 * Values as users see them, and shapes that follow from them.
 */
import { decodeTensorData } from "@nnhal/backend";
import { decodeStrings } from "@nnhal/extension-tflite";
import { elementsOf, realValues } from "@nnhal/network/tensors";
import { type AnyOperandType, byteLength } from "@nnhal/operations";
import type { TensorDescription } from "@nnhal/tflite";

/** True if elements are strings. */
export function isString({ tensorType }: Pick<TensorDescription, "tensorType">): boolean {
  return tensorType === "STRING";
}

/** The values of a tensor: strings, real numbers, and 64-bit integers that a number does not hold exactly as their digits. */
export function shownValues(info: TensorDescription, bytes: Uint8Array): readonly (number | string)[] {
  if (isString(info)) return decodeStrings({ bytes, dimensions: info.shape });
  const data: ArrayLike<number | bigint> = decodeTensorData(info.type, bytes, elementsOf(info.shape));
  if (data instanceof BigInt64Array || data instanceof BigUint64Array) {
    return Array.from(data, (value) => (Number.isSafeInteger(Number(value)) ? Number(value) : String(value)));
  }
  return Array.from(realValues(info, bytes));
}

/** Number of values of a tensor. */
export function valueCount(info: Pick<TensorDescription, "tensorType" | "shape">): number {
  return elementsOf(isString(info) ? info.shape.slice(0, -1) : info.shape);
}

/** The bytes of all that an open extent counts; undefined if not exactly one extent is open. */
export function bytesOfOpenExtent({
  type,
  shape,
}: {
  readonly type: AnyOperandType;
  readonly shape: readonly number[];
}): number | undefined {
  const known = shape.filter((extent) => extent !== 0);
  return known.length === shape.length - 1 ? byteLength(type, elementsOf(known)) : undefined;
}

/** The shape of an input with so many bytes, if the model leaves one extent open; undefined otherwise. */
export function shapeForBytes(
  info: { readonly type: AnyOperandType; readonly shape: readonly number[] },
  { length }: Uint8Array,
): readonly number[] | undefined {
  const size = bytesOfOpenExtent(info);
  return size === undefined ? undefined : info.shape.map((extent) => (extent === 0 ? length / size : extent));
}
