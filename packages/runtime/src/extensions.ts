/**
 * Vendor extensions in a model: their prefixes and their operand types (HAL 1.2 Extension).
 */
import { describedFacts, splitExtensionCode } from "@nnhal/operations";
import { type Extension, type ExtensionNameAndPrefix, ExtensionTypeEncoding } from "@nnhal/types";
import { isExtensionOperandType } from "@nnhal/utils";
import { halOperandFacts, type OperandFacts } from "./operand-facts.ts";
import { expect, ResultCode } from "./result-code.ts";

// Codes are int32 in the NDK, and the sign bit stays 0, as in the later AIDL interface: half of the prefixes are used.
const greatestPrefix = 2 ** (ExtensionTypeEncoding.HIGH_BITS_PREFIX - 1) - 1;

/** The extensions of one model. Prefixes count from 1, in the order in which extensions are first used. */
export interface ModelExtensions {
  /** The prefix of an extension; undefined if all prefixes are taken. */
  prefixOf(name: string): number | undefined;
  nameOf(prefix: number): string | undefined;
  /** Facts of an operand type; undefined for one that neither the HAL nor an extension describes. */
  factsOf(type: number): OperandFacts | undefined;
}

/** The extensions of a model. `described`: those whose operand types are known. `names`: those that have prefixes already. */
export function modelExtensions(
  described: readonly Extension[],
  names: readonly ExtensionNameAndPrefix[] = [],
): ModelExtensions {
  const prefixes = new Map(names.map(({ name, prefix }) => [name, prefix]));
  const byPrefix = new Map(names.map(({ name, prefix }) => [prefix, name]));
  const byName = new Map(described.map((extension) => [extension.name, extension]));
  let next = 1;
  return {
    prefixOf(name) {
      const known = prefixes.get(name);
      if (known !== undefined) return known;
      while (byPrefix.has(next)) next++;
      if (next > greatestPrefix) return undefined;
      prefixes.set(name, next);
      byPrefix.set(next, name);
      return next;
    },
    nameOf: (prefix) => byPrefix.get(prefix),
    factsOf(code) {
      if (!isExtensionOperandType(code)) return halOperandFacts(code);
      const { prefix, code: type } = splitExtensionCode(code);
      const name = byPrefix.get(prefix);
      const extension = name === undefined ? undefined : byName.get(name);
      return extension && describedFacts(extension, type);
    },
  };
}

/** The prefix of an extension in a model. Throws BAD_DATA if all prefixes are taken. */
export function takePrefix({ prefixOf }: ModelExtensions, name: string, what: string): number {
  const prefix = prefixOf(name);
  expect(prefix !== undefined, ResultCode.BAD_DATA, () => `${what}: too many extensions for one model`);
  return prefix;
}

/** The names and prefixes of the extensions whose codes some operands and operations have. */
export function usedExtensions(
  users: readonly { readonly type: number }[],
  { nameOf }: ModelExtensions,
): ExtensionNameAndPrefix[] {
  const codes = users.map(({ type }) => type).filter(isExtensionOperandType);
  const prefixes = [...new Set(codes.map((code) => splitExtensionCode(code).prefix))].sort((a, b) => a - b);
  return prefixes.flatMap((prefix) => {
    const name = nameOf(prefix);
    return name === undefined ? [] : [{ name, prefix }];
  });
}
