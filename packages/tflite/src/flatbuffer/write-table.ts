/**
 * The writer of tables, by their layouts. Apart from the reader, so that a program that only reads files does not load it.
 */
import { ensure, fail } from "../error.ts";
import type { Builder } from "./builder.ts";
import { checkInteger, int8Kind } from "./fields.ts";
import type { Field, Integer, Layout, Reference } from "./table.ts";

/** Puts a prepared value in its slot of the table that is being built. */
type Store = (builder: Builder, slot: number) => void;

/** Writes a table and returns its offset. */
export function writeTable<T>(builder: Builder, layout: Layout<T>, row: T, path: string): number {
  const stores: (Store | undefined)[] = [];
  for (const name in layout) stores.push(prepare(builder, layout[name], row[name], `${path}.${name}`));
  builder.startObject(stores.length);
  for (const [slot, store] of stores.entries()) store?.(builder, slot);
  return builder.endObject();
}

/** Writes the part of a field outside the table, and returns a function that stores the field; undefined omits the field. */
function prepare(
  builder: Builder,
  { form, absent, codes = [] }: Field<unknown>,
  value: unknown,
  path: string,
): Store | undefined {
  switch (form.is) {
    case "integer":
      checkInteger(form.integer, value, path);
      return value === absent ? undefined : storeInteger(form.integer, value);
    case "any int64": {
      ensure(/^-?\d{1,19}$/.test(String(value)), path, () => `${value} is not a 64-bit integer`);
      const whole = BigInt(String(value));
      ensure(BigInt.asIntN(64, whole) === whole, path, () => `${value} is not a 64-bit integer`);
      return whole === 0n ? undefined : (to, slot) => to.addFieldInt64(slot, whole, null);
    }
    case "bool": {
      const code = takeBoolean(value, path);
      return value === absent ? undefined : storeInteger(int8Kind, code);
    }
    case "float32": {
      const number = takeNumber(value, path);
      return Object.is(number, 0) ? undefined : (to, slot) => to.addFieldFloat32(slot, number, null);
    }
    case "code": {
      const number = typeof value === "number" ? value : codes.indexOf(String(value));
      ensure(typeof value === "number" || number >= 0, path, () => `${value} is none of ${codes.join(", ")}`);
      checkInteger(int8Kind, number, path);
      return codes[number] === absent ? undefined : storeInteger(int8Kind, number);
    }
    case "presence":
      return value ? fail(path, "cannot be written") : undefined;
    default: {
      if (value === undefined) return undefined;
      const offset = writeReferred(builder, form, value, path);
      return (to, slot) => to.addFieldOffset(slot, offset, 0);
    }
  }
}

/** Writes what a field refers to, and returns its offset. */
function writeReferred(builder: Builder, form: Reference, value: unknown, path: string): number {
  switch (form.is) {
    case "string":
      ensure(typeof value === "string", path, () => `${value} is not a string`);
      return builder.createString(value);
    case "bytes":
      ensure(value instanceof Uint8Array, path, () => "the bytes are not a Uint8Array");
      builder.prep(form.alignment, value.length);
      return builder.createByteVector(value);
    case "integers": {
      const { integer } = form;
      const values = takeList(value, path).map((each) => takeInteger(integer, each, path));
      return writeVector(builder, integer.size, values, (each) => addInteger(builder, integer, each));
    }
    case "float32s": {
      const values = takeList(value, path).map((each) => takeNumber(each, path));
      return writeVector(builder, 4, values, (each) => builder.addFloat32(each));
    }
    case "bools": {
      const values = takeList(value, path).map((each) => takeBoolean(each, path));
      return writeVector(builder, 1, values, (each) => builder.addInt8(each));
    }
    case "child":
      return writeTable(builder, form.layout, takeRow(value, path), path);
    case "children": {
      const rows = takeList(value, path).map((each) => takeRow(each, path));
      const offsets = rows.map((row, i) => writeTable(builder, form.layout, row, `${path}[${i}]`));
      return writeVector(builder, 4, offsets, (offset) => builder.addOffset(offset));
    }
    case "reference":
      return takeNumber(value, path);
  }
}

/** Writes a vector, whose elements are added from the last to the first. */
function writeVector(builder: Builder, size: number, values: readonly number[], add: (value: number) => void): number {
  builder.startVector(size, values.length, size);
  for (const value of values.toReversed()) add(value);
  return builder.endVector();
}

function storeInteger({ size }: Integer, value: number): Store {
  return (builder, slot) => {
    if (size === 1) builder.addFieldInt8(slot, value, null);
    else if (size === 2) builder.addFieldInt16(slot, value, null);
    else if (size === 4) builder.addFieldInt32(slot, value, null);
    else builder.addFieldInt64(slot, BigInt(value), null);
  };
}

function addInteger(builder: Builder, { size }: Integer, value: number): void {
  if (size === 1) builder.addInt8(value);
  else if (size === 2) builder.addInt16(value);
  else if (size === 4) builder.addInt32(value);
  else builder.addInt64(BigInt(value));
}

function takeInteger(integer: Integer, value: unknown, path: string): number {
  checkInteger(integer, value, path);
  return value;
}

function takeNumber(value: unknown, path: string): number {
  ensure(typeof value === "number", path, () => `${value} is not a number`);
  return value;
}

/** A boolean as its code. */
function takeBoolean(value: unknown, path: string): number {
  ensure(typeof value === "boolean", path, () => `${value} is not a boolean`);
  return value ? 1 : 0;
}

function takeList(value: unknown, path: string): readonly unknown[] {
  ensure(Array.isArray(value), path, () => `${value} is not a list`);
  return value;
}

function takeRow(value: unknown, path: string): Readonly<Record<string, unknown>> {
  ensure(typeof value === "object" && value !== null, path, () => `${value} is not an object`);
  return { ...value };
}
