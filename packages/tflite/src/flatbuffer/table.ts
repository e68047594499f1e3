/**
 * Tables of a FlatBuffer schema as data: a layout lists a table's fields in slot order. One reader, which is here, and one writer
 * (write-table.ts) serve them all.
 */

import { ensure } from "../error.ts";
import { checkRange, type Source, spend, TABLE_COST } from "./source.ts";

/** A kind of integer. */
export interface Integer {
  readonly size: 1 | 2 | 4 | 8;
  readonly least: number;
  readonly greatest: number;
  get(source: Source, at: number): number;
}

/** Value of a field in the table, for the writer. */
export type Form =
  | { readonly is: "any int64" | "bool" | "code" | "float32" | "presence" }
  | { readonly is: "integer"; readonly integer: Integer }
  | Reference;

/** Target of a field outside the table. */
export type Reference =
  | { readonly is: "string" | "float32s" | "bools" | "reference" }
  | { readonly is: "integers"; readonly integer: Integer }
  | { readonly is: "bytes"; readonly alignment: number }
  | { readonly is: "child" | "children"; readonly layout: Layout<Readonly<Record<string, unknown>>> };

/** One field of a table. */
export interface Field<T> {
  readonly form: Form;
  /** Bytes it takes inside the table. */
  readonly size: 1 | 2 | 4 | 8;
  /** The value if the table omits it. */
  readonly absent: T;
  /** Of an enum: the names of its members; a name's place is its code. */
  readonly codes?: readonly string[];
  /** Reads it from `at`; `size` bytes from there are known to be in the file. */
  read(source: Source, at: number, path: string): T;
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
