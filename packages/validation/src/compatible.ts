/**
 * Whether two operands can describe the same value.
 */
import { combineDimensions } from "@nnhal/operations";
import type { Operand } from "@nnhal/types";
import { showDimensions } from "./issues.ts";
import { knownOperandType } from "./type-ranges.ts";

/**
 * The first difference of two operands, in words; undefined if they agree in type, scale, zeroPoint and extraParams, and their known
 * dimensions do not contradict each other.
 */
export function differenceOf(a: Operand, b: Operand): string | undefined {
  if (a.type !== b.type) return `the types are ${typeName(a.type)} and ${typeName(b.type)}`;
  if (combineDimensions(a.dimensions, b.dimensions) === undefined) {
    return `the dimensions are ${showDimensions(a.dimensions)} and ${showDimensions(b.dimensions)}`;
  }
  if (a.scale !== b.scale) return `the scales are ${a.scale} and ${b.scale}`;
  if (a.zeroPoint !== b.zeroPoint) return `the zeroPoints are ${a.zeroPoint} and ${b.zeroPoint}`;
  return sameExtraParams(a.extraParams, b.extraParams) ? undefined : "the extraParams differ";
}

/** A type's name for messages. */
export function typeName(code: number): string {
  return knownOperandType(code)?.name ?? `extension type ${code}`;
}

/** Whether two operands' extraParams are equal. */
export function sameExtraParams(a: Operand["extraParams"], b: Operand["extraParams"]): boolean {
  if (a.kind === "channelQuant" && b.kind === "channelQuant") {
    return (
      a.channelQuant.channelDim === b.channelQuant.channelDim && same(a.channelQuant.scales, b.channelQuant.scales)
    );
  }
  if (a.kind === "extension" && b.kind === "extension") return same(a.extension, b.extension);
  return a.kind === b.kind;
}

function same(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}
