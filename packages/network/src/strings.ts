/**
 * Strings of inputs, outputs and states. It is loaded for models that have some.
 */
import { decodeStrings, encodeStrings } from "@nnhal/extension-tflite";
import { check } from "./error.ts";
import type { Value } from "./session.ts";
import { infoText, type Tensor, type TensorInfo } from "./tensor-info.ts";
import { isShaped, kindOf, shapeFor, shapeOfList } from "./values.ts";

/** The bytes of a string, of lists of strings, or of a tensor of strings. A Uint8Array is a string of any bytes. Throws a NetworkError. */
export function encodeStringValue(value: unknown, info: TensorInfo, what: string): Value {
  const { items, given } = itemsOf(value, what);
  const strings = items.map((item) => {
    const isString = typeof item === "string" || item instanceof Uint8Array;
    check(
      isString,
      "WRONG_TYPE",
      () => `${what} ${infoText(info)} takes a string, or lists of strings; it has ${kindOf(item)}`,
    );
    return item;
  });
  const { bytes, dimensions } = encodeStrings(strings, shapeFor(strings.length, given, info, what));
  return { bytes, shape: dimensions };
}

function itemsOf(
  value: unknown,
  what: string,
): { readonly items: readonly unknown[]; readonly given?: readonly number[] | undefined } {
  if (Array.isArray(value)) {
    const shape = shapeOfList(value, what);
    const items: readonly unknown[] = value.flat(shape.length - 1);
    return { items, given: shape.length > 1 ? shape : undefined };
  }
  if (!isShaped(value)) return { items: [value] };
  const { items, given } = itemsOf("strings" in value ? value.strings : value.data, what);
  return { items, given: value.shape ?? given };
}

/** The tensor of an output or state of strings. */
export function stringTensor({ name, type, labels }: TensorInfo, { bytes, shape }: Value): Tensor {
  const strings = decodeStrings({ bytes, dimensions: shape });
  return { name, type, shape: shape.slice(0, -1), data: bytes, strings, ...(labels && { labels }) };
}
