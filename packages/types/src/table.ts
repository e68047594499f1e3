/**
 * The shape shared by the enum tables, and the one derivation made from them: a name → code object that reads like the
 * enum it stands for (`OperandType.TENSOR_FLOAT32`).
 */
import type { HalVersion, HidlVersion } from "./version.ts";

/** One member of a HAL enum. */
export interface EnumRow {
  /** The numeric code that models and messages carry. */
  readonly code: number;
  /** The first HAL version with this member. */
  readonly since: HalVersion;
}

/** A HAL enum as a table, keyed by the HAL's own member names. */
export type EnumTable = Readonly<Record<string, EnumRow>>;

/** The name → code object of an enum table. */
export type CodesOf<Table extends EnumTable> = { readonly [Name in keyof Table]: Table[Name]["code"] };

/** Derives the name → code object of an enum table. */
export function codesOf<const Table extends EnumTable>(table: Table): CodesOf<Table> {
  return Object.fromEntries(Object.entries(table).map(([name, row]) => [name, row.code])) as CodesOf<Table>;
}

/** Derives the code → name map of an enum table. A code that is not in the map is not a member of the enum. */
export function namesOf<const Table extends EnumTable>(table: Table): ReadonlyMap<number, keyof Table & string> {
  return new Map(Object.entries(table).map(([name, row]) => [row.code, name]));
}

/** The versions up to and including one. */
interface VersionsUpTo {
  readonly "1.0": "1.0";
  readonly "1.1": "1.0" | "1.1";
  readonly "1.2": "1.0" | "1.1" | "1.2";
  readonly "1.3": HidlVersion;
  readonly aidl1: HidlVersion | "aidl1";
  readonly aidl2: HidlVersion | "aidl1" | "aidl2";
  readonly aidl3: Exclude<HalVersion, "aidl4">;
  readonly aidl4: HalVersion;
}

/** The rows of an enum table that a HAL version knows. */
export type TableAt<Table extends EnumTable, Version extends HalVersion> = {
  readonly [Name in keyof Table as Table[Name]["since"] extends VersionsUpTo[Version] ? Name : never]: Table[Name];
};

/** Derives the rows of an enum table that a HAL version knows. */
export function tableAt<const Table extends EnumTable, Version extends HalVersion>(
  table: Table,
  version: Version,
): TableAt<Table, Version> {
  const rows = Object.entries(table).filter(([, { since }]) => since <= version);
  return Object.fromEntries(rows) as TableAt<Table, Version>;
}
