/**
 * Options of custom operators: a FlexBuffer with one map from names to numbers and truth values.
 */
import { flexbufferReader } from "./flexbuffer.ts";

/** The value of an option; undefined if there is none, or none of these types. */
export type CustomOptions = (name: string) => number | boolean | undefined;

/** What is used of the library's references; its types lack the access by name that it has. */
interface Reference {
  get(name: string): Reference;
  isBool(): boolean;
  boolValue(): boolean | null;
  isNumber(): boolean;
  numericValue(): number | bigint | null;
}

/** More bytes than any operator's options have. */
const MOST_BYTES = 2 ** 16;

/** Opens the options of a custom operator. Bytes that are not such a map have no options. */
export function customOptions(bytes: Uint8Array = new Uint8Array(0)): CustomOptions {
  const toReference = flexbufferReader();
  const root = attempt(() => {
    if (bytes.length > MOST_BYTES) return undefined;
    // The library reads the whole buffer of a view.
    const reference = toReference(new Uint8Array(bytes).buffer);
    // It searches as many names as a map says it has: a map cannot have more than it has bytes.
    if (!reference.isMap() || reference.length() > bytes.length) return undefined;
    return reference as unknown as Reference;
  });
  return (name) =>
    attempt(() => {
      const value = root?.get(name);
      if (value?.isBool()) return value.boolValue() ?? undefined;
      return value?.isNumber() ? Number(value.numericValue()) : undefined;
    });
}

/** The library throws strings and RangeErrors for whatever it cannot read. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
