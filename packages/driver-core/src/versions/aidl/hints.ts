/** Hints of configurations (AIDL 4). */

import { isExtensionName } from "@nnhal/operations";
import { ExtensionTypeEncoding, type Hints, type TokenValuePair } from "@nnhal/types";
import type { AIDL4 } from "@nnhal/types/aidl";
import { show } from "@nnhal/validation";
import { listOf } from "./read.ts";

const greatestPrefix = 0x7fff;

/**
 * The hints of a configuration; undefined if there are none. Throws a RangeError for a token that is negative, occurs twice or has a prefix
 * without a name, and for names and prefixes that are not valid or occur twice.
 */
export function readHints(
  list: readonly TokenValuePair[],
  { extensionNameToPrefix }: Pick<AIDL4.ExecutionConfig, "extensionNameToPrefix">,
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

/** Hints as the fields of a configuration. */
export function writeHints(hints: Hints | undefined): Hints {
  return hints ?? { pairs: [], extensionNameToPrefix: [] };
}

function refuse(path: string, expected: string, got: unknown): never {
  throw new RangeError(`${path}: expected ${expected}, got ${show(got)}`);
}
