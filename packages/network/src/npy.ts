/**
 * Reads and writes .npy files, as NumPy does. Every problem of a file is a RangeError with a message that goes on from the file's name.
 */
import { elementAt, fromFloat16Bits } from "@nnhal/operations";
import type { ElementType } from "./elements.ts";
import { oneLine } from "./text.ts";

/** An array. */
export interface NumpyArray {
  readonly type: ElementType;
  readonly shape: readonly number[];
  /** Row by row, also those of a file in Fortran's order. They take more memory than the file. */
  values(): readonly (number | bigint)[];
}

/** The most characters of a header, and the most extents: as many as NumPy reads. */
const MOST_HEADER = 10_000;
const MOST_EXTENTS = 64;

/** Where the header of a file of version 1 begins. */
const HEADER_AT = 10;

const start = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];

interface Reader {
  readonly type: ElementType;
  readonly size: number;
  read(view: DataView, at: number, isLittle: boolean): number | bigint;
}

const readers: Readonly<Record<string, Reader>> = {
  b1: { type: "bool", size: 1, read: (view, at) => view.getUint8(at) },
  u1: { type: "uint8", size: 1, read: (view, at) => view.getUint8(at) },
  i1: { type: "int8", size: 1, read: (view, at) => view.getInt8(at) },
  u2: { type: "uint16", size: 2, read: (view, at, isLittle) => view.getUint16(at, isLittle) },
  i2: { type: "int16", size: 2, read: (view, at, isLittle) => view.getInt16(at, isLittle) },
  u4: { type: "uint32", size: 4, read: (view, at, isLittle) => view.getUint32(at, isLittle) },
  i4: { type: "int32", size: 4, read: (view, at, isLittle) => view.getInt32(at, isLittle) },
  u8: { type: "uint64", size: 8, read: (view, at, isLittle) => view.getBigUint64(at, isLittle) },
  i8: { type: "int64", size: 8, read: (view, at, isLittle) => view.getBigInt64(at, isLittle) },
  f2: { type: "float16", size: 2, read: (view, at, isLittle) => fromFloat16Bits(view.getUint16(at, isLittle)) },
  f4: { type: "float32", size: 4, read: (view, at, isLittle) => view.getFloat32(at, isLittle) },
  f8: { type: "float64", size: 8, read: (view, at, isLittle) => view.getFloat64(at, isLittle) },
};

/** Returns a .npy file of version 1, in C's order. `bytes`: elements in little-endian order. Throws for a type that NumPy does not have. */
export function writeNpy(type: ElementType, shape: readonly number[], bytes: Uint8Array): Uint8Array {
  const descr = Object.keys(readers).find((each) => readers[each]?.type === type);
  if (descr === undefined) throw new TypeError(`expected a type of NumPy, got ${type}`);
  const order = readers[descr]?.size === 1 ? "|" : "<";
  const extents = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  const header = `{'descr': '${order}${descr}', 'fortran_order': False, 'shape': (${extents}), }`;
  // Elements begin at a multiple of 64 bytes, and the header ends with a line feed.
  const length = Math.ceil((HEADER_AT + header.length + 1) / 64) * 64 - HEADER_AT;
  const file = new Uint8Array(HEADER_AT + length + bytes.length);
  file.set([...start, 1, 0, length & 0xff, length >> 8]);
  file.set(new TextEncoder().encode(`${header.padEnd(length - 1)}\n`), HEADER_AT);
  file.set(bytes, HEADER_AT + length);
  return file;
}

/** True if bytes begin like a .npy file. */
export function isNpy(bytes: Uint8Array): boolean {
  return start.every((byte, place) => bytes[place] === byte);
}

/** Reads a .npy file of version 1, 2 or 3, of either byte order, in C's or Fortran's order. */
export function readNpy(bytes: Uint8Array): NumpyArray {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const header = headerOf(bytes, view);
  const { text } = header;
  const descr = /'descr':\s*'([<>|=]?)(\w+)'/.exec(text);
  const order = /'fortran_order':\s*(True|False)/.exec(text)?.[1];
  // Python 2 wrote whole numbers with an L.
  const extents = /'shape':\s*\(((?:\s*\d+L?\s*,)*\s*(?:\d+L?)?\s*)\)/.exec(text)?.[1];
  if (order === undefined || extents === undefined) throw new RangeError("is a .npy file whose header cannot be read");
  const reader = readers[descr?.[2] ?? ""];
  if (descr === null || reader === undefined) {
    const given = /'descr':\s*('[^']*'|\[.*?\](?=,\s*'))/.exec(text)?.[1] ?? "?";
    throw new RangeError(
      `is a .npy file of the type ${oneLine(given.slice(0, 100))}; expected ${Object.keys(readers).join(", ")}`,
    );
  }
  const shape = extents.split(",").flatMap((part) => (part.trim() === "" ? [] : [Number.parseInt(part, 10)]));
  if (shape.length > MOST_EXTENTS)
    throw new RangeError(`is a .npy file of ${shape.length} dimensions; ${MOST_EXTENTS} are the most`);
  const count = shape.reduce((product, extent) => product * extent, 1);
  const held = bytes.length - header.end;
  if (count * reader.size !== held) {
    throw new RangeError(
      `is a .npy file of ${count} elements of ${reader.size} bytes, ${count * reader.size} in all, that holds ${held}`,
    );
  }
  const valueAt = (place: number) => reader.read(view, header.end + place * reader.size, descr[1] !== ">");
  const values = () =>
    Array.from({ length: count }, (_, place) => valueAt(order === "True" ? fortranPlace(place, shape) : place));
  return { type: reader.type, shape, values };
}

/** Where the element that is at a place in C's order lies in Fortran's, in which the first index varies fastest. */
function fortranPlace(place: number, shape: readonly number[]): number {
  let rest = place;
  let found = 0;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    const extent = elementAt(shape, axis);
    found = found + (rest % extent) * shape.slice(0, axis).reduce((product, before) => product * before, 1);
    rest = Math.floor(rest / extent);
  }
  return found;
}

function headerOf(bytes: Uint8Array, view: DataView): { readonly text: string; readonly end: number } {
  const version = bytes[6] ?? 0;
  if (bytes.length < 8) throw new RangeError("is a .npy file that is cut off");
  if (version < 1 || version > 3) throw new RangeError(`is a .npy file of version ${version}; expected 1, 2 or 3`);
  const at = version === 1 ? 10 : 12;
  if (bytes.length < at) throw new RangeError("is a .npy file that is cut off");
  const size = version === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  if (size > MOST_HEADER)
    throw new RangeError(`is a .npy file whose header has ${size} bytes; ${MOST_HEADER} are the most`);
  const end = at + size;
  if (end > bytes.length) throw new RangeError("is a .npy file that is cut off");
  return { text: new TextDecoder().decode(bytes.subarray(at, end)), end };
}
