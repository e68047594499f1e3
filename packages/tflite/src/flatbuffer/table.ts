/**
 * Tables of a FlatBuffer schema as data: a layout lists a table's fields in slot order, and one reader and one writer
 * serve them all.
 */

import { ensure } from "../error.ts";
import type { Builder } from "./builder.ts";
import { checkRange, type Source, spend, TABLE_COST } from "./source.ts";

/** Puts a prepared value in its slot of the table that is being built. */
export type Store = (builder: Builder, slot: number) => void;

/** One field of a table. */
export interface Field<T> {
  /** Bytes it takes inside the table. */
  readonly size: 1 | 2 | 4 | 8;
  /** The value if the table omits it. */
  readonly absent: T;
  /** Of an enum: the names of its members; a name's place is its code. */
  readonly codes?: readonly string[];
  /** Reads it from `at`; `size` bytes from there are known to be in the file. */
  read(source: Source, at: number, path: string): T;
  /** Writes the part outside the table, and returns a function that stores the field; undefined omits the field. */
  write(builder: Builder, value: T, path: string): Store | undefined;
}

/** A table's fields; their order is that of their slots. */
export type Layout<T> = { readonly [Name in keyof T]: Field<T[Name]> };

/** The values of a layout's fields. */
export type Row<L> = L extends Layout<infer T> ? T : never;

/** Reads the table at `start`. */
export function readTable<T>(source: Source, layout: Layout<T>, start: number, path: string): T {
  checkRange(source, start, 4, path);
  const vtable = start - source.values.getInt32(start, true);
  checkRange(source, vtable, 4, path);
  const vtableSize = source.values.getUint16(vtable, true);
  const tableSize = source.values.getUint16(vtable + 2, true);
  ensure(vtableSize >= 4 && tableSize >= 4, path, () => `a table's sizes ${vtableSize} and ${tableSize} are below 4`);
  checkRange(source, vtable, vtableSize, path);
  checkRange(source, start, tableSize, path);
  spend(source, tableSize + TABLE_COST, path);
  const row: Partial<T> = {};
  let entry = 4;
  for (const name in layout) {
    const field = layout[name];
    const offset = entry + 2 <= vtableSize ? source.values.getUint16(vtable + entry, true) : 0;
    entry += 2;
    if (offset === 0) {
      row[name] = field.absent;
      continue;
    }
    ensure(offset + field.size <= tableSize, path, () => `field ${name} lies outside its table of ${tableSize} bytes`);
    row[name] = field.read(source, start + offset, `${path}.${name}`);
  }
  return row as T;
}

/** Writes a table and returns its offset. */
export function writeTable<T>(builder: Builder, layout: Layout<T>, row: T, path: string): number {
  const stores: (Store | undefined)[] = [];
  for (const name in layout) stores.push(layout[name].write(builder, row[name], `${path}.${name}`));
  builder.startObject(stores.length);
  for (const [slot, store] of stores.entries()) store?.(builder, slot);
  return builder.endObject();
}
