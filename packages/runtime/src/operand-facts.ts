/**
 * Facts of an operand type, the HAL's own or an extension's, and the size of its values in bytes.
 */
import { type ElementFacts, specifiedByteSize } from "@nnhal/operations";
import { operandTypeNames, operandTypes } from "@nnhal/types";

/** The facts of an operand type that arguments are checked against. */
export interface OperandFacts extends ElementFacts {
  /** The HAL's, or `TYPE of EXTENSION`. */
  readonly name: string;
}

/** Sizes above this do not fit in the HAL's 32 bits. */
export const greatestSize = 0xffff_ffff;

const halFacts: ReadonlyMap<number, OperandFacts> = new Map(
  [...operandTypeNames].map(([type, name]) => {
    const { kind, elementSize } = operandTypes[name];
    return [type, { name, kind, elementSize }];
  }),
);

/** The facts of one of the HAL's own types; undefined for any other code. */
export function halOperandFacts(type: number): OperandFacts | undefined {
  return halFacts.get(type);
}

/** Bytes of a value; undefined if an extent is unknown, and for the OEM scalar, which has any size. */
export function sizeOfData(facts: OperandFacts, dimensions: readonly number[]): number | undefined {
  return facts.name === "OEM" ? undefined : specifiedByteSize(facts, dimensions);
}

/** Whether extents have the same rank and equal every known extent of others. */
export function refines(dimensions: readonly number[], known: readonly number[]): boolean {
  if (known.length === 0) return true;
  if (dimensions.length !== known.length) return false;
  return known.every((extent, axis) => extent === 0 || dimensions[axis] === extent);
}
