/**
 * Strings of inputs, outputs and states. It is loaded for models that have some.
 */
import { decodeStrings, encodeStrings } from "@nnhal/extension-tflite";
import { expectAttached } from "./bytes.ts";
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
    if (typeof item !== "string") expectAttached(item, `${what} ${infoText(info)}`);
    return item;
  });
  checkRows(strings, info, what);
  const { bytes, dimensions } = encodeStrings(strings, shapeFor(strings.length, given, info, what));
  return { bytes, shape: dimensions };
}

/** The most bytes of the rows of a value: each is as wide as its longest string. */
const mostRowBytes = 2 ** 30;

/** Checks what the rows of strings take, before they are made. */
function checkRows(strings: readonly (string | Uint8Array)[], info: TensorInfo, what: string): void {
  // A UTF-16 unit is at most 3 bytes of UTF-8.
  const width = strings.reduce(
    (most, text) => Math.max(most, typeof text === "string" ? 3 * text.length : text.length),
    0,
  );
  const bytes = strings.length * (4 + width);
  check(
    bytes <= mostRowBytes,
    "WRONG_SIZE",
    () =>
      `${what} ${infoText(info)}: ${strings.length} strings of up to ${width} bytes take rows of ${bytes} bytes; ${mostRowBytes} are the most`,
  );
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
