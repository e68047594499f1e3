/**
 * Facts of an operand type, the HAL's own or an extension's, and the size of its values in bytes.
 */
import { type FactsByCode, factsByCode, type NamedFacts, specifiedByteSize } from "@nnhal/operations";

/** The facts of an operand type that arguments are checked against. */
export type OperandFacts = NamedFacts;

/** Sizes above this do not fit in the HAL's 32 bits. */
export const greatestSize = 0xffff_ffff;

/** The facts of one of the HAL's own types; undefined for any other code. */
export const halOperandFacts: FactsByCode = factsByCode([], []);

/** Bytes of a value; undefined if an extent is unknown, and for the OEM scalar, which has any size. */
export function sizeOfData(facts: OperandFacts, dimensions: readonly number[]): number | undefined {
  return facts.name === "OEM" ? undefined : specifiedByteSize(facts, dimensions);
}

/** Returns whether extents have the same rank and equal every known extent of others. */
export function refines(dimensions: readonly number[], known: readonly number[]): boolean {
  if (known.length === 0) return true;
  if (dimensions.length !== known.length) return false;
  for (let axis = 0; axis < known.length; axis++) {
    if (known[axis] !== 0 && dimensions[axis] !== known[axis]) return false;
  }
  return true;
}
