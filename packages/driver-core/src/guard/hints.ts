/** Hints of configurations (AIDL 4 TokenValuePair). */
import type { Hint } from "@nnhal/backend";
import { isExtensionName } from "@nnhal/operations";
import { ExtensionTypeEncoding, type Hints } from "@nnhal/types";
import { hasFields, show } from "@nnhal/validation";
import { failure, invalid, messageOf, type Refusal } from "./refusal.ts";

const greatestPrefix = 0x7fff;
const greatestCode = 0xffff;

/**
 * The hints of a configuration; undefined if there are none. Throws a RangeError for a token that is negative, occurs twice or has a prefix
 * without a name, and for names and prefixes that are not valid or occur twice.
 */
export function readHints(
  list: Hints["pairs"],
  { extensionNameToPrefix }: Pick<Hints, "extensionNameToPrefix">,
  name: string,
): Hints | undefined {
  const prefixes = new Map<number, string>();
  const names = new Set<string>();
  const map = listOf(extensionNameToPrefix, "extensionNameToPrefix", ({ name, prefix }, path) => {
    if (typeof name !== "string" || !isExtensionName(name)) refuse(`${path}.name`, "the name of an extension", name);
    if (!Number.isInteger(prefix) || prefix < 1 || prefix > greatestPrefix) {
      refuse(`${path}.prefix`, `an integer within [1, ${greatestPrefix}]`, prefix);
    }
    if (names.has(name) || prefixes.has(prefix)) refuse(path, "each name and each prefix once", `${name} ${prefix}`);
    names.add(name);
    prefixes.set(prefix, name);
    return { name, prefix };
  });
  const tokens = new Set<number>();
  const pairs = listOf(list, name, ({ token, value }, path) => {
    if (!Number.isInteger(token) || token < 0 || token > 0x7fff_ffff) {
      refuse(`${path}.token`, "an integer within [0, 2^31)", token);
    }
    if (tokens.has(token)) refuse(`${path}.token`, "each token once", token);
    if (!prefixes.has(token >>> ExtensionTypeEncoding.LOW_BITS_TYPE)) {
      refuse(`${path}.token`, "a prefix of extensionNameToPrefix", token);
    }
    if (!(value instanceof Uint8Array)) refuse(`${path}.value`, "bytes", value);
    tokens.add(token);
    return { token, value };
  });
  return pairs.length === 0 ? undefined : { pairs, extensionNameToPrefix: map };
}

/** Takes the hints of a call, which can be any value. Undefined if there are none that the engine reads. */
export type HintsTaker = (given: unknown) => readonly Hint[] | Refusal | undefined;

/**
 * Returns a function that takes hints for an engine that reads those of some extensions: it copies them, and leaves out all others, which
 * the HAL allows a driver not to know. A refusal if the extensions, which can be any value, are not a list of names.
 */
export function hintsTaker(extensions: readonly string[]): HintsTaker | Refusal {
  if (!Array.isArray(extensions) || !extensions.every((name) => typeof name === "string")) {
    return failure(
      `the backend cannot be used: its hintedExtensions: expected a list of names, got ${show(extensions)}`,
    );
  }
  const wanted = new Set(extensions);
  return (given) => {
    try {
      if (!hasFields(given)) return invalid(`the hints: expected an object, got ${show(given)}`);
      // Lists and their items are checked one by one.
      const { pairs, extensionNameToPrefix } = given as unknown as Hints;
      const hints = readHints(pairs, { extensionNameToPrefix }, "the hints");
      if (hints === undefined) return undefined;
      const names = new Map(hints.extensionNameToPrefix.map(({ name, prefix }) => [prefix, name]));
      const taken = hints.pairs.flatMap(({ token, value }) => {
        const extension = names.get(token >>> ExtensionTypeEncoding.LOW_BITS_TYPE);
        if (extension === undefined || !wanted.has(extension)) return [];
        return [{ extension, code: token & greatestCode, value: value.slice() }];
      });
      return taken.length === 0 ? undefined : taken;
    } catch (error) {
      return invalid(messageOf(error));
    }
  };
}

/** Hints as the fields of a configuration. */
export function writeHints(hints: Hints | undefined): Hints {
  return hints ?? { pairs: [], extensionNameToPrefix: [] };
}

/** The elements of a list, read one by one. `read`: gets the element and its path. */
function listOf<Element, Value>(
  list: readonly Element[],
  path: string,
  read: (element: Element, path: string) => Value,
): Value[] {
  if (!Array.isArray(list)) return refuse(path, "an array", list);
  return list.map((element: Element, index) => read(element, `${path}[${index}]`));
}

function refuse(path: string, expected: string, got: unknown): never {
  throw new RangeError(`${path}: expected ${expected}, got ${show(got)}`);
}
