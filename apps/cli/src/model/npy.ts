/**
 * Reads .npy files, as NumPy writes arrays. Every problem of a file is a RangeError with a message that goes on from the file's name.
 */
import type { ElementType } from "@nnhal/network/tensors";

/** An array. */
export interface NumpyArray {
  readonly type: ElementType;
  readonly shape: readonly number[];
  /** Row by row. */
  readonly values: readonly (number | bigint)[];
}

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
  f4: { type: "float32", size: 4, read: (view, at, isLittle) => view.getFloat32(at, isLittle) },
  f8: { type: "float64", size: 8, read: (view, at, isLittle) => view.getFloat64(at, isLittle) },
};

/** Whether bytes begin like a .npy file. */
export function isNpy(bytes: Uint8Array): boolean {
  return start.every((byte, place) => bytes[place] === byte);
}

/** Reads a .npy file. */
export function readNpy(bytes: Uint8Array): NumpyArray {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const header = headerOf(bytes, view);
  const { text } = header;
  const descr = /'descr':\s*'([<>|=])(\w+)'/.exec(text);
  const order = /'fortran_order':\s*(True|False)/.exec(text)?.[1];
  const extents = /'shape':\s*\(([\d,\s]*)\)/.exec(text)?.[1];
  if (order === undefined || extents === undefined) throw new RangeError("is a .npy file whose header cannot be read");
  if (order === "True") throw new RangeError("is a .npy file in Fortran's order; numpy.ascontiguousarray changes it");
  const reader = readers[descr?.[2] ?? ""];
  if (descr === null || reader === undefined)
    throw new RangeError(`is a .npy file of the type ${/'descr':\s*([^,]*)/.exec(text)?.[1] ?? "?"}, not of numbers`);
  const shape = extents.split(",").flatMap((part) => (part.trim() === "" ? [] : [Number(part)]));
  const count = shape.reduce((product, extent) => product * extent, 1);
  const held = Math.floor((bytes.length - header.end) / reader.size);
  if (count !== held) throw new RangeError(`is a .npy file of ${count} elements that holds ${held}`);
  const values = Array.from({ length: count }, (_, place) =>
    reader.read(view, header.end + place * reader.size, descr[1] !== ">"),
  );
  return { type: reader.type, shape, values };
}

function headerOf(bytes: Uint8Array, view: DataView): { readonly text: string; readonly end: number } {
  const isFirst = bytes[6] === 1;
  const at = isFirst ? 10 : 12;
  if (bytes.length < at) throw new RangeError("is a .npy file that is cut off");
  const end = at + (isFirst ? view.getUint16(8, true) : view.getUint32(8, true));
  if (end > bytes.length) throw new RangeError("is a .npy file that is cut off");
  return { text: new TextDecoder().decode(bytes.subarray(at, end)), end };
}
