/**
 * Reads the fields of parsed JSON. Each reader checks its field, and names the field's path if it is wrong.
 */

/** Vectors in a wrong format. The message names the place and the rule. */
export class VectorFormatError extends Error {
  override readonly name = "VectorFormatError";
}

/** An object of the JSON and the path that leads to it. */
export interface Place {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly path: string;
}

/** Throws a VectorFormatError about the field `key` of `place`. */
export function reject(place: Place, key: string, expected: string): never {
  throw new VectorFormatError(`${place.path}${key}: expected ${expected}, found ${format(place.fields[key])}`);
}

function format(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
}

/** A value as a place, whose fields can be read. */
export function placeOf(value: unknown, path: string): Place {
  if (!isRecord(value)) {
    throw new VectorFormatError(`${path || "line"}: expected an object, found ${format(value)}`);
  }
  return { fields: value, path: path === "" ? "" : `${path}.` };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function readObject(place: Place, key: string): Place {
  return placeOf(place.fields[key], `${place.path}${key}`);
}

export function readText(place: Place, key: string): string {
  const value = place.fields[key];
  return typeof value === "string" ? value : reject(place, key, "a string");
}

export function readFlag(place: Place, key: string): boolean {
  const value = place.fields[key];
  return typeof value === "boolean" ? value : reject(place, key, "true or false");
}

export function readNumber(place: Place, key: string): number {
  const value = place.fields[key];
  return typeof value === "number" && Number.isFinite(value) ? value : reject(place, key, "a number");
}

/** An integer within bounds, both included. */
export function readInteger(place: Place, key: string, least: number, greatest: number): number {
  const value = place.fields[key];
  return isInteger(value, least, greatest) ? value : reject(place, key, `an integer from ${least} to ${greatest}`);
}

/** Reads a list of integers within bounds, both included. */
export function readIntegers(place: Place, key: string, least: number, greatest: number): readonly number[] {
  const value = place.fields[key];
  const isList = Array.isArray(value) && value.every((item) => isInteger(item, least, greatest));
  return isList ? value : reject(place, key, `a list of integers from ${least} to ${greatest}`);
}

function isInteger(value: unknown, least: number, greatest: number): value is number {
  return Number.isInteger(value) && Number(value) >= least && Number(value) <= greatest;
}

export function readNumbers(place: Place, key: string): readonly number[] {
  const value = place.fields[key];
  const isList = Array.isArray(value) && value.every((item) => Number.isFinite(item));
  return isList ? value : reject(place, key, "a list of numbers");
}

/** A list of objects, each read by `read`. */
export function readList<T>(place: Place, key: string, read: (item: Place) => T): T[] {
  const value: unknown = place.fields[key];
  if (!Array.isArray(value)) return reject(place, key, "a list");
  return value.map((item, index) => read(placeOf(item, `${place.path}${key}[${index}]`)));
}

/** One of the keys of a table. */
export function readName<Name extends string>(place: Place, key: string, table: Readonly<Record<Name, unknown>>): Name {
  const value = place.fields[key];
  return isKey(value, table) ? value : reject(place, key, "one of the HAL's names");
}

function isKey<Name extends string>(value: unknown, table: Readonly<Record<Name, unknown>>): value is Name {
  return typeof value === "string" && Object.hasOwn(table, value);
}

const base64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Bytes in base64, or null. */
export function readBytes(place: Place, key: string): Uint8Array | null {
  const value = place.fields[key];
  if (value === null) return null;
  if (typeof value !== "string" || value.length % 4 !== 0 || !base64.test(value)) {
    return reject(place, key, "base64 or null");
  }
  return new Uint8Array(Buffer.from(value, "base64"));
}
