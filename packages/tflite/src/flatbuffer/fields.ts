/**
 * The kinds of fields that layouts are made of: scalars, named codes, strings, vectors and references to other tables.
 */
import { elementAt } from "@nnhal/operations";
import { ensure, fail } from "../error.ts";
import type { Builder } from "./builder.ts";
import { follow, type Source, spend, vectorAt } from "./source.ts";
import { type Field, type Layout, readTable, type Store, writeTable } from "./table.ts";

/** Members of a schema enum in the order of their codes. */
export type Codes = readonly string[];

interface IntegerKind {
  readonly size: 1 | 2 | 4 | 8;
  readonly least: number;
  readonly greatest: number;
  get(source: Source, at: number): number;
  put(builder: Builder, slot: number, value: number): void;
  /** Adds an element of a vector. */
  add(builder: Builder, value: number): void;
}

const int8Kind: IntegerKind = {
  size: 1,
  least: -0x80,
  greatest: 0x7f,
  get: (source, at) => source.values.getInt8(at),
  put: (builder, slot, value) => builder.addFieldInt8(slot, value, null),
  add: (builder, value) => builder.addInt8(value),
};
const uint8Kind: IntegerKind = {
  ...int8Kind,
  least: 0,
  greatest: 0xff,
  get: (source, at) => source.values.getUint8(at),
};
const uint16Kind: IntegerKind = {
  size: 2,
  least: 0,
  greatest: 0xffff,
  get: (source, at) => source.values.getUint16(at, true),
  put: (builder, slot, value) => builder.addFieldInt16(slot, value, null),
  add: (builder, value) => builder.addInt16(value),
};
const int32Kind: IntegerKind = {
  size: 4,
  least: -0x8000_0000,
  greatest: 0x7fff_ffff,
  get: (source, at) => source.values.getInt32(at, true),
  put: (builder, slot, value) => builder.addFieldInt32(slot, value, null),
  add: (builder, value) => builder.addInt32(value),
};
const uint32Kind: IntegerKind = {
  ...int32Kind,
  least: 0,
  greatest: 0xffff_ffff,
  get: (source, at) => source.values.getUint32(at, true),
};
// 64-bit integers are numbers here; one that no number holds exactly reads as NaN and is refused.
const exact = (value: bigint) => (BigInt.asIntN(54, value) === value ? Number(value) : Number.NaN);
const int64Kind: IntegerKind = {
  size: 8,
  least: Number.MIN_SAFE_INTEGER,
  greatest: Number.MAX_SAFE_INTEGER,
  get: (source, at) => exact(source.values.getBigInt64(at, true)),
  put: (builder, slot, value) => builder.addFieldInt64(slot, BigInt(value), null),
  add: (builder, value) => builder.addInt64(BigInt(value)),
};
const uint64Kind: IntegerKind = {
  ...int64Kind,
  least: 0,
  get: (source, at) => exact(source.values.getBigUint64(at, true)),
};

function checkInteger(kind: IntegerKind, value: number, path: string): void {
  ensure(
    Number.isInteger(value) && value >= kind.least && value <= kind.greatest,
    path,
    () => `${value} is not an integer from ${kind.least} to ${kind.greatest}`,
  );
}

function integer(kind: IntegerKind, absent: number): Field<number> {
  return {
    size: kind.size,
    absent,
    read(source, at, path) {
      const value = kind.get(source, at);
      checkInteger(kind, value, path);
      return value;
    },
    write(_builder, value, path) {
      checkInteger(kind, value, path);
      return value === absent ? undefined : (builder, slot) => kind.put(builder, slot, value);
    },
  };
}

export const int8 = (absent = 0): Field<number> => integer(int8Kind, absent);
export const uint8 = (absent = 0): Field<number> => integer(uint8Kind, absent);
export const int32 = (absent = 0): Field<number> => integer(int32Kind, absent);
export const uint32 = (absent = 0): Field<number> => integer(uint32Kind, absent);
/** A 64-bit integer that a number holds exactly; any other is refused. */
export const uint64 = (absent = 0): Field<number> => integer(uint64Kind, absent);

/** A 64-bit integer of any value: a number if it is exact, else its decimal digits. */
export function anyInt64(): Field<number | string> {
  return {
    size: 8,
    absent: 0,
    read(source, at) {
      const value = source.values.getBigInt64(at, true);
      return Number.isNaN(exact(value)) ? value.toString() : Number(value);
    },
    write(_builder, value, path) {
      ensure(/^-?\d{1,19}$/.test(String(value)), path, () => `${value} is not a 64-bit integer`);
      const whole = BigInt(value);
      ensure(BigInt.asIntN(64, whole) === whole, path, () => `${value} is not a 64-bit integer`);
      return whole === 0n ? undefined : (builder, slot) => builder.addFieldInt64(slot, whole, null);
    },
  };
}

export function bool(absent = false): Field<boolean> {
  return {
    size: 1,
    absent,
    read: (source, at) => source.values.getUint8(at) !== 0,
    write(_builder, value, path) {
      ensure(typeof value === "boolean", path, () => `${value} is not a boolean`);
      return value === absent ? undefined : (builder, slot) => builder.addFieldInt8(slot, value ? 1 : 0, null);
    },
  };
}

export function float32(): Field<number> {
  return {
    size: 4,
    absent: 0,
    read: (source, at) => source.values.getFloat32(at, true),
    write(_builder, value, path) {
      ensure(typeof value === "number", path, () => `${value} is not a number`);
      return Object.is(value, 0) ? undefined : (builder, slot) => builder.addFieldFloat32(slot, value, null);
    },
  };
}

/** A member of an enum by its name; a code that the enum does not list stays a number. */
export function code(codes: Codes, absent = 0): Field<string | number> {
  return {
    size: 1,
    absent: elementAt(codes, absent),
    codes,
    read(source, at) {
      const value = source.values.getInt8(at);
      return codes[value] ?? value;
    },
    write(_builder, value, path) {
      const number = typeof value === "number" ? value : codes.indexOf(value);
      ensure(typeof value === "number" || number >= 0, path, () => `${value} is none of ${codes.join(", ")}`);
      checkInteger(int8Kind, number, path);
      return number === absent ? undefined : (builder, slot) => builder.addFieldInt8(slot, number, null);
    },
  };
}

const utf8 = new TextDecoder();

function storeOffset(offset: number): Store {
  return (builder, slot) => builder.addFieldOffset(slot, offset, 0);
}

/** A field that refers to something outside the table; left out it is undefined. */
function referring<T>(
  read: (source: Source, at: number, path: string) => T,
  create: (builder: Builder, value: T, path: string) => number,
): Field<T | undefined> {
  return {
    size: 4,
    absent: undefined,
    read,
    write: (builder, value, path) => (value === undefined ? undefined : storeOffset(create(builder, value, path))),
  };
}

export function string(): Field<string | undefined> {
  return referring(
    (source, at, path) => {
      const { start, count } = vectorAt(source, at, 1, path);
      spend(source, count, path);
      // A copy, since browsers do not decode shared memory.
      return utf8.decode(source.bytes.slice(start, start + count));
    },
    (builder, value, path) => {
      ensure(typeof value === "string", path, () => `${value} is not a string`);
      return builder.createString(value);
    },
  );
}

function vector<T>(
  size: number,
  get: (source: Source, at: number, path: string) => T,
  add: (builder: Builder, value: T) => void,
  check: (value: T, path: string) => void,
): Field<readonly T[] | undefined> {
  return referring<readonly T[]>(
    (source, at, path) => {
      const { start, count } = vectorAt(source, at, size, path);
      spend(source, count * size, path);
      return Array.from({ length: count }, (_, i) => get(source, start + i * size, path));
    },
    (builder, values, path) => {
      ensure(Array.isArray(values), path, () => `${values} is not a list`);
      for (const value of values) check(value, path);
      builder.startVector(size, values.length, size);
      for (const value of values.toReversed()) add(builder, value);
      return builder.endVector();
    },
  );
}

function integers(kind: IntegerKind): Field<readonly number[] | undefined> {
  return vector(
    kind.size,
    (source, at, path) => {
      const value = kind.get(source, at);
      checkInteger(kind, value, path);
      return value;
    },
    kind.add,
    (value, path) => checkInteger(kind, value, path),
  );
}

export const uint8s = (): Field<readonly number[] | undefined> => integers(uint8Kind);
export const uint16s = (): Field<readonly number[] | undefined> => integers(uint16Kind);
export const int32s = (): Field<readonly number[] | undefined> => integers(int32Kind);
export const int64s = (): Field<readonly number[] | undefined> => integers(int64Kind);

export const float32s = (): Field<readonly number[] | undefined> =>
  vector(
    4,
    (source, at) => source.values.getFloat32(at, true),
    (builder, value: number) => builder.addFloat32(value),
    (value, path) => ensure(typeof value === "number", path, () => `${value} is not a number`),
  );

export const bools = (): Field<readonly boolean[] | undefined> =>
  vector(
    1,
    (source, at) => source.values.getUint8(at) !== 0,
    (builder, value: boolean) => builder.addInt8(value ? 1 : 0),
    (value, path) => ensure(typeof value === "boolean", path, () => `${value} is not a boolean`),
  );

/** Bytes as a view into the file. Written at a multiple of `alignment` from the start of the file. */
export function bytes(alignment: number): Field<Uint8Array | undefined> {
  return referring(
    (source, at, path) => {
      const { start, count } = vectorAt(source, at, 1, path);
      return source.bytes.subarray(start, start + count);
    },
    (builder, value, path) => {
      ensure(value instanceof Uint8Array, path, () => "the bytes are not a Uint8Array");
      builder.prep(alignment, value.length);
      return builder.createByteVector(value);
    },
  );
}

/** Another table. */
export function child<T>(layout: Layout<T>): Field<T | undefined> {
  return referring(
    (source, at, path) => readTable(source, layout, follow(source, at, path), path),
    (builder, value, path) => writeTable(builder, layout, value, path),
  );
}

/** A vector of tables. */
export function children<T>(layout: Layout<T>): Field<readonly T[] | undefined> {
  return referring<readonly T[]>(
    (source, at, path) => {
      const { start, count } = vectorAt(source, at, 4, path);
      spend(source, count * 4, path);
      return Array.from({ length: count }, (_, i) => {
        const place = `${path}[${i}]`;
        return readTable(source, layout, follow(source, start + i * 4, place), place);
      });
    },
    (builder, rows, path) => {
      const offsets = rows.map((row, i) => writeTable(builder, layout, row, `${path}[${i}]`));
      builder.startVector(4, offsets.length, 4);
      for (const offset of offsets.reverse()) builder.addOffset(offset);
      return builder.endVector();
    },
  );
}

/**
 * A reference whose kind of target another field determines, as in a union. Read: the target's position. Written: the offset of a
 * value that was written before.
 */
export function reference(): Field<number | undefined> {
  return referring(follow, (_builder, offset) => offset);
}

/** Whether a field is there; its contents are not read, and it cannot be written. */
export function presence(): Field<boolean> {
  return {
    size: 1,
    absent: false,
    read: () => true,
    write: (_builder, value, path) => (value ? fail(path, "cannot be written") : undefined),
  };
}
