/**
 * What the runtime knows of an operand type, the HAL's own or an extension's, and how many bytes a value of it takes.
 */
import { type ElementFacts, specifiedByteSize } from "@nnhal/operations";
import { operandTypeNames, operandTypes } from "@nnhal/types";

/** An operand type as arguments are checked against it. */
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

/** Bytes of a value; undefined where an extent is not known, and for the OEM scalar, which has any size. */
export function sizeOfData(facts: OperandFacts, dimensions: readonly number[]): number | undefined {
  return facts.name === "OEM" ? undefined : specifiedByteSize(facts, dimensions);
}

/** Whether extents say all that others do, and the same. */
export function refines(dimensions: readonly number[], known: readonly number[]): boolean {
  if (known.length === 0) return true;
  if (dimensions.length !== known.length) return false;
  return known.every((extent, axis) => extent === 0 || dimensions[axis] === extent);
}
