/**
 * Reads a FlexBuffer: values whose places are relative and whose widths are 1 to 8 bytes, from the last byte on.
 *
 * The library's reader throws for vectors with a type whose places lie near the end, and follows a value that contains itself.
 */
import { ensure, type FlexMap, type FlexValue } from "@nnhal/operations";

/** More bytes than the options of an operator have. */
const MOST_BYTES = 2 ** 20;

/** Values inside each other: deeper ones are not read. */
const MOST_DEPTH = 32;

/** Codes of types (flatbuffers/flexbuffers.h). */
const Kind = {
  Null: 0,
  Int: 1,
  Uint: 2,
  Float: 3,
  Key: 4,
  String: 5,
  IndirectInt: 6,
  IndirectUint: 7,
  IndirectFloat: 8,
  Map: 9,
  Vector: 10,
  VectorInt: 11,
  VectorKey: 14,
  VectorString: 15,
  VectorInt2: 16,
  VectorFloat4: 24,
  Blob: 25,
  Bool: 26,
  VectorBool: 36,
} as const;

/** A value's place: where it or the distance to it lies, and in how many bytes. */
interface Slot {
  readonly at: number;
  readonly width: number;
  /** The type's code, and the logarithm of the width of what it refers to. */
  readonly packed: number;
}

/** The map of a FlexBuffer. Throws an OperationError for other bytes. */
export function flexbufferMap(bytes: Uint8Array): FlexMap {
  ensure(bytes.length >= 3, () => `a FlexBuffer has at least 3 bytes, here are ${bytes.length}`);
  ensure(bytes.length <= MOST_BYTES, () => `${bytes.length} bytes of options are more than ${MOST_BYTES}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const [packed, width] = [view.getUint8(bytes.length - 2), view.getUint8(bytes.length - 1)];
  ensure([1, 2, 4, 8].includes(width), () => `the root of a FlexBuffer has 1, 2, 4 or 8 bytes, not ${width}`);
  const kind = packed >> 2;
  ensure(kind === Kind.Map, () => `the root of the FlexBuffer: expected a map (type ${Kind.Map}), got type ${kind}`);
  // Places may be referred to several times, so there may be more values than bytes.
  const reader: Reader = { view, left: 16 * bytes.length };
  const root = { at: bytes.length - 2 - width, width, packed };
  return mapAt(reader, root, 0);
}

interface Reader {
  readonly view: DataView;
  /** The number of values and characters that may still be read. */
  left: number;
}

function valueAt(reader: Reader, slot: Slot, depth: number): FlexValue {
  spend(reader, 1);
  const { view } = reader;
  const kind = slot.packed >> 2;
  const inner = 1 << (slot.packed & 3);
  switch (kind) {
    case Kind.Null:
      return null;
    case Kind.Bool:
      return readUnsigned(view, slot.at, slot.width) !== 0n;
    case Kind.Int:
    case Kind.Uint:
    case Kind.Float:
      return numberAt(view, kind, slot.at, slot.width);
    case Kind.IndirectInt:
    case Kind.IndirectUint:
    case Kind.IndirectFloat:
      return numberAt(view, kind - Kind.IndirectInt + Kind.Int, targetOf(view, slot), inner);
    case Kind.Key:
      return keyAt(reader, targetOf(view, slot));
    case Kind.String:
      return new TextDecoder().decode(readSized(reader, targetOf(view, slot), inner));
    case Kind.Blob:
      return readSized(reader, targetOf(view, slot), inner).slice();
    case Kind.Map:
      return mapAt(reader, slot, depth);
    default:
      return listAt(reader, slot, depth);
  }
}

/** A vector: of any values, each with its type behind the elements; of one type; or of one type and 2 to 4 elements without a size. */
function listAt(reader: Reader, slot: Slot, depth: number): readonly FlexValue[] {
  const { view } = reader;
  const kind = slot.packed >> 2;
  const width = 1 << (slot.packed & 3);
  const start = targetOf(view, slot);
  ensureDepth(depth);
  if (kind === Kind.Vector) return elementsAt(reader, start, width, depth);
  const fixed = kind >= Kind.VectorInt2 && kind <= Kind.VectorFloat4;
  const element = fixed ? Kind.Int + ((kind - Kind.VectorInt2) % 3) : elementOf(kind);
  const count = fixed ? 2 + Math.floor((kind - Kind.VectorInt2) / 3) : sizeAt(view, start, width);
  spend(reader, count);
  // Elements that have places of their own (keys, strings) are of a byte width of 1.
  return Array.from({ length: count }, (_, index) =>
    valueAt(reader, { at: start + index * width, width, packed: element << 2 }, depth + 1),
  );
}

/** The type of the elements of a vector with a type. */
function elementOf(kind: number): number {
  if (kind >= Kind.VectorInt && kind <= Kind.VectorString) return kind - Kind.VectorInt + Kind.Int;
  ensure(kind === Kind.VectorBool, () => `FlexBuffers have no type ${kind}`);
  return Kind.Bool;
}

function mapAt(reader: Reader, slot: Slot, depth: number): FlexMap {
  const { view } = reader;
  const width = 1 << (slot.packed & 3);
  const start = targetOf(view, slot);
  ensureDepth(depth);
  // Before its elements a map has the distance to its keys, their width, and its size.
  const keysWidth = Number(readUnsigned(view, start - 2 * width, width));
  ensure([1, 2, 4, 8].includes(keysWidth), () => `keys of a map have 1, 2, 4 or 8 bytes, not ${keysWidth}`);
  const keys = targetOf(view, { at: start - 3 * width, width });
  const values = elementsAt(reader, start, width, depth);
  const entries = values.map((value, index) => {
    const at = keys + index * keysWidth;
    return [keyAt(reader, targetOf(view, { at, width: keysWidth })), value] as const;
  });
  return Object.fromEntries(entries);
}

/** Elements with types of their own: a byte for each, behind all of them. */
function elementsAt(reader: Reader, start: number, width: number, depth: number): FlexValue[] {
  const { view } = reader;
  const count = sizeAt(view, start, width);
  spend(reader, count);
  return Array.from({ length: count }, (_, index) => {
    const packed = view.getUint8(placeIn(view, start + count * width + index, 1));
    return valueAt(reader, { at: start + index * width, width, packed }, depth + 1);
  });
}

/** Where a value lies: before the place that has the distance to it. */
function targetOf(view: DataView, { at, width }: Pick<Slot, "at" | "width">): number {
  return at - Number(readUnsigned(view, at, width));
}

/** The size that precedes a vector, a string or a blob. */
function sizeAt(view: DataView, start: number, width: number): number {
  const size = Number(readUnsigned(view, start - width, width));
  ensure(size <= view.byteLength, () => `a value of ${size} elements is longer than the ${view.byteLength} bytes`);
  return size;
}

function readSized(reader: Reader, start: number, width: number): Uint8Array {
  const size = sizeAt(reader.view, start, width);
  spend(reader, size);
  return bytesAt(reader.view, start, size);
}

/** The bytes of a key: up to a zero. */
function keyAt(reader: Reader, start: number): string {
  const { view } = reader;
  const rest = bytesAt(view, start, Math.max(0, view.byteLength - start));
  const length = rest.indexOf(0);
  ensure(length >= 0, () => `the key at byte ${start} has no end`);
  spend(reader, length);
  return new TextDecoder().decode(rest.subarray(0, length));
}

function bytesAt(view: DataView, start: number, length: number): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset + placeIn(view, start, length), length);
}

function readUnsigned(view: DataView, at: number, width: number): bigint {
  placeIn(view, at, width);
  if (width === 8) return view.getBigUint64(at, true);
  return BigInt(width === 4 ? view.getUint32(at, true) : width === 2 ? view.getUint16(at, true) : view.getUint8(at));
}

function numberAt(view: DataView, kind: number, at: number, width: number): number | bigint {
  const bits = readUnsigned(view, at, width);
  if (kind === Kind.Float) {
    ensure(width >= 4, () => `floats have 4 or 8 bytes, not ${width}`);
    return width === 8 ? view.getFloat64(at, true) : view.getFloat32(at, true);
  }
  const value = kind === Kind.Uint ? bits : BigInt.asIntN(8 * width, bits);
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function placeIn(view: DataView, at: number, length: number): number {
  const isInside = at >= 0 && at + length <= view.byteLength;
  ensure(isInside, () => `there is a value at byte ${at} of the ${view.byteLength} bytes`);
  return at;
}

function ensureDepth(depth: number): void {
  ensure(depth < MOST_DEPTH, () => `more than ${MOST_DEPTH} lists and maps are inside each other`);
}

function spend(reader: Reader, count: number): void {
  reader.left -= count;
  ensure(reader.left >= 0, () => "it has more values than bytes: values contain each other");
}
