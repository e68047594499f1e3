/**
 * The kinds of fields that layouts are made of: scalars, named codes, strings, vectors and references to other tables.
 */
import { elementAt } from "@nnhal/operations";
import { ensure } from "../error.ts";
import { follow, type Source, spend, vectorAt } from "./source.ts";
import { type Field, type Integer, type Layout, type Reference, readTable } from "./table.ts";

/** Members of a schema enum in the order of their codes. */
export type Codes = readonly string[];

export const int8Kind: Integer = {
  size: 1,
  least: -0x80,
  greatest: 0x7f,
  get: (source, at) => source.values.getInt8(at),
};
const uint8Kind: Integer = {
  ...int8Kind,
  least: 0,
  greatest: 0xff,
  get: (source, at) => source.values.getUint8(at),
};
const uint16Kind: Integer = {
  size: 2,
  least: 0,
  greatest: 0xffff,
  get: (source, at) => source.values.getUint16(at, true),
};
const int32Kind: Integer = {
  size: 4,
  least: -0x8000_0000,
  greatest: 0x7fff_ffff,
  get: (source, at) => source.values.getInt32(at, true),
};
const uint32Kind: Integer = {
  ...int32Kind,
  least: 0,
  greatest: 0xffff_ffff,
  get: (source, at) => source.values.getUint32(at, true),
};
// 64-bit integers are numbers here; one that no number holds exactly reads as NaN and is refused.
const exact = (value: bigint) => (BigInt.asIntN(54, value) === value ? Number(value) : Number.NaN);
const int64Kind: Integer = {
  size: 8,
  least: Number.MIN_SAFE_INTEGER,
  greatest: Number.MAX_SAFE_INTEGER,
  get: (source, at) => exact(source.values.getBigInt64(at, true)),
};
const uint64Kind: Integer = {
  ...int64Kind,
  least: 0,
  get: (source, at) => exact(source.values.getBigUint64(at, true)),
};

/** Throws a TfliteError if a value is not an integer of the kind. */
export function checkInteger(kind: Integer, value: unknown, path: string): asserts value is number {
  ensure(
    Number.isInteger(value) && Number(value) >= kind.least && Number(value) <= kind.greatest,
    path,
    () => `${value} is not an integer from ${kind.least} to ${kind.greatest}`,
  );
}

function readInteger(kind: Integer, source: Source, at: number, path: string): number {
  const value = kind.get(source, at);
  checkInteger(kind, value, path);
  return value;
}

function integer(kind: Integer, absent: number): Field<number> {
  const read = (source: Source, at: number, path: string) => readInteger(kind, source, at, path);
  return { form: { is: "integer", integer: kind }, size: kind.size, absent, read };
}

export const int8 = (absent = 0): Field<number> => integer(int8Kind, absent);
export const uint8 = (absent = 0): Field<number> => integer(uint8Kind, absent);
export const int32 = (absent = 0): Field<number> => integer(int32Kind, absent);
export const uint32 = (absent = 0): Field<number> => integer(uint32Kind, absent);
/** A 64-bit integer that a number holds exactly; any other is refused. */
export const int64 = (absent = 0): Field<number> => integer(int64Kind, absent);
/** The same without a sign. */
export const uint64 = (absent = 0): Field<number> => integer(uint64Kind, absent);

/** A 64-bit integer of any value: a number if it is exact, else its decimal digits. */
export function anyInt64(): Field<number | string> {
  return {
    form: { is: "any int64" },
    size: 8,
    absent: 0,
    read(source, at) {
      const value = source.values.getBigInt64(at, true);
      return Number.isNaN(exact(value)) ? value.toString() : Number(value);
    },
  };
}

const readBool = ({ values }: Source, at: number) => values.getUint8(at) !== 0;
const readFloat32 = ({ values }: Source, at: number) => values.getFloat32(at, true);

export function bool(absent = false): Field<boolean> {
  return { form: { is: "bool" }, size: 1, absent, read: readBool };
}

export function float32(): Field<number> {
  return { form: { is: "float32" }, size: 4, absent: 0, read: readFloat32 };
}

/** A member of an enum by its name; a code that the enum does not list stays a number. */
export function code(codes: Codes, absent = 0): Field<string | number> {
  return {
    form: { is: "code" },
    size: 1,
    absent: elementAt(codes, absent),
    codes,
    read(source, at) {
      const value = source.values.getInt8(at);
      return codes[value] ?? value;
    },
  };
}

const utf8 = new TextDecoder();

/** A field that refers to something outside the table; left out it is undefined. */
function makeReferring<T>(
  form: Reference,
  read: (source: Source, at: number, path: string) => T,
): Field<T | undefined> {
  return { form, size: 4, absent: undefined, read };
}

export function string(): Field<string | undefined> {
  return makeReferring({ is: "string" }, (source, at, path) => {
    const { start, count } = vectorAt(source, at, 1, path);
    spend(source, count, path);
    // A copy, since browsers do not decode shared memory.
    return utf8.decode(source.bytes.slice(start, start + count));
  });
}

function vector<T>(
  form: Reference,
  size: number,
  get: (source: Source, at: number, path: string) => T,
): Field<readonly T[] | undefined> {
  return makeReferring<readonly T[]>(form, (source, at, path) => {
    const { start, count } = vectorAt(source, at, size, path);
    spend(source, count * size, path);
    return Array.from({ length: count }, (_, i) => get(source, start + i * size, path));
  });
}

function integers(kind: Integer): Field<readonly number[] | undefined> {
  return vector({ is: "integers", integer: kind }, kind.size, (source, at, path) =>
    readInteger(kind, source, at, path),
  );
}

export const uint8s = (): Field<readonly number[] | undefined> => integers(uint8Kind);
export const uint16s = (): Field<readonly number[] | undefined> => integers(uint16Kind);
export const int32s = (): Field<readonly number[] | undefined> => integers(int32Kind);
export const int64s = (): Field<readonly number[] | undefined> => integers(int64Kind);

export const float32s = (): Field<readonly number[] | undefined> => vector({ is: "float32s" }, 4, readFloat32);

export const bools = (): Field<readonly boolean[] | undefined> => vector({ is: "bools" }, 1, readBool);

/** Bytes as a view into the file. Written at a multiple of `alignment` from the start of the file. */
export function bytes(alignment: number): Field<Uint8Array | undefined> {
  return makeReferring({ is: "bytes", alignment }, (source, at, path) => {
    const { start, count } = vectorAt(source, at, 1, path);
    return source.bytes.subarray(start, start + count);
  });
}

/** Another table. */
export function child<T>(layout: Layout<T>): Field<T | undefined> {
  return makeReferring({ is: "child", layout }, (source, at, path) =>
    readTable(source, layout, follow(source, at, path), path),
  );
}

/** A vector of tables. */
export function children<T>(layout: Layout<T>): Field<readonly T[] | undefined> {
  return makeReferring<readonly T[]>({ is: "children", layout }, (source, at, path) => {
    const { start, count } = vectorAt(source, at, 4, path);
    spend(source, count * 4, path);
    return Array.from({ length: count }, (_, i) => {
      const place = `${path}[${i}]`;
      return readTable(source, layout, follow(source, start + i * 4, place), place);
    });
  });
}

/**
 * A reference whose kind of target another field determines, as in a union. Read: the target's position. Written: the offset of a
 * value that was written before.
 */
export function reference(): Field<number | undefined> {
  return makeReferring({ is: "reference" }, follow);
}

/** Field of which only the presence is read; it cannot be written. */
export function presence(): Field<boolean> {
  return { form: { is: "presence" }, size: 1, absent: false, read: () => true };
}
