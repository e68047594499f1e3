/**
 * Kernels on strings: rows of bytes.
 */
import type { AnyTensorData } from "../operand-type.ts";
import type { Phase } from "../phases.ts";
import { elementCount, type OutputTensor, resize, type Tensor } from "../tensor.ts";
import { lengthBytes, stringReader } from "../tflite-strings.ts";

/** The axes of the strings of a tensor, without the bytes. */
export function shapeOfStrings({ dimensions }: Pick<Tensor, "dimensions">): readonly number[] {
  return dimensions.slice(0, -1);
}

/** The elements of a TENSOR_STRING, which are bytes. Throws a TypeError for any others. */
function bytesIn(data: AnyTensorData): Uint8Array {
  if (!(data instanceof Uint8Array)) throw new TypeError("expected the bytes of strings");
  return data;
}

/** Opens the strings of a tensor for reading by their place. */
export function stringsOf({ data, dimensions }: Tensor<AnyTensorData>): (place: number) => Uint8Array {
  return stringReader(bytesIn(data), dimensions);
}

/** Phases that write strings to an output, whose size becomes what they need. The strings are read when the phases run. */
export function writeStrings(strings: readonly Uint8Array[], output: OutputTensor<AnyTensorData>): readonly Phase[] {
  const makeRoom = () => {
    const width = lengthBytes + strings.reduce((most, { length }) => Math.max(most, length), 0);
    resize(output, [strings.length, width]);
  };
  const copy = (first: number, end: number) => copyRange((place) => strings[place], output, first, end);
  return [
    { units: 1, compute: makeRoom },
    {
      get units() {
        return strings.length;
      },
      cost: 64,
      compute: copy,
    },
  ];
}

/** Writes `count` strings to an output of a size that they fit in. */
export function copyStrings(
  count: number,
  at: (place: number) => Uint8Array,
  output: OutputTensor<AnyTensorData>,
): Phase {
  const width = output.dimensions.at(-1) ?? 0;
  return { units: count, cost: 64 + width / 4, compute: (first, end) => copyRange(at, output, first, end) };
}

function copyRange(
  at: (place: number) => Uint8Array,
  { data, dimensions }: OutputTensor<AnyTensorData>,
  first: number,
  end: number,
): void {
  const bytes = bytesIn(data);
  const width = dimensions.at(-1) ?? 0;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let place = first; place < end; place++) {
    const text = at(place);
    view.setUint32(place * width, text.length, true);
    bytes.set(text, place * width + lengthBytes);
  }
}

/** Returns whether two strings have the same bytes. */
export function isSameString(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, index) => byte === right[index]);
}

/** A text with one character for each byte, equal for equal strings: a key of a Map. */
export function keyOf(text: Uint8Array): string {
  let key = "";
  for (let first = 0; first < text.length; first += KEY_PART) {
    key += String.fromCharCode(...text.subarray(first, first + KEY_PART));
  }
  return key;
}

/** Arguments of one call are limited. */
const KEY_PART = 4096;

/** The number of strings of a tensor. */
export function countOf(tensor: Pick<Tensor, "dimensions">): number {
  return elementCount(shapeOfStrings(tensor));
}
