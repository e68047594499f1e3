/** Compares operands: decides whether two can describe the same value. */
import { combineDimensions, operandTypeText, splitExtensionCode } from "@nnhal/operations";
import type { ExtensionNameAndPrefix, Operand } from "@nnhal/types";
import { showDimensions } from "./issues.ts";
import { extensionOf, isExtensionOperandType } from "./type-ranges.ts";

/** The prefixes of the extensions in a model. */
type Prefixes = readonly ExtensionNameAndPrefix[];

/**
 * The first difference of two operands, in words; undefined if they agree in type, scale, zeroPoint and extraParams, and their known
 * dimensions do not contradict each other.
 */
export function differenceOf(a: Operand, b: Operand, prefixes: Prefixes): string | undefined {
  if (a.type !== b.type) {
    return `the types are ${operandTypeText(a.type, prefixes)} and ${operandTypeText(b.type, prefixes)}`;
  }
  if (combineDimensions(a.dimensions, b.dimensions) === undefined) {
    return `the dimensions are ${showDimensions(a.dimensions)} and ${showDimensions(b.dimensions)}`;
  }
  if (a.scale !== b.scale) return `the scales are ${a.scale} and ${b.scale}`;
  if (a.zeroPoint !== b.zeroPoint) return `the zeroPoints are ${a.zeroPoint} and ${b.zeroPoint}`;
  return sameExtraParams(a.extraParams, b.extraParams) ? undefined : "the extraParams differ";
}

/**
 * Returns whether codes in two models mean the same type. Codes of extensions differ from model to model, so names are
 * compared.
 */
export function isSameTypeIn(a: number, prefixesOfA: Prefixes, b: number, prefixesOfB: Prefixes): boolean {
  if (!isExtensionOperandType(a) || !isExtensionOperandType(b)) return a === b;
  const isSameCode = splitExtensionCode(a).code === splitExtensionCode(b).code;
  return isSameCode && extensionOf(a, prefixesOfA) === extensionOf(b, prefixesOfB);
}

/** Returns whether two operands' extraParams are equal. */
export function sameExtraParams(a: Operand["extraParams"], b: Operand["extraParams"]): boolean {
  if (a.kind === "channelQuant" && b.kind === "channelQuant") {
    return (
      a.channelQuant.channelDim === b.channelQuant.channelDim && areEqual(a.channelQuant.scales, b.channelQuant.scales)
    );
  }
  if (a.kind === "extension" && b.kind === "extension") return areEqual(a.extension, b.extension);
  return a.kind === b.kind;
}

function areEqual(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}
