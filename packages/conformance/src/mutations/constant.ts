/**
 * Making a constant of an operand: bytes for it in the model, whatever they hold.
 */
import { specifiedByteSize } from "@nnhal/operations";
import {
  type DataLocation,
  type Model,
  type Operand,
  OperandLifeTime,
  operandTypeNames,
  operandTypes,
} from "@nnhal/types";

/** Mutants do not carry greater constants than this, in bytes. */
export const GREATEST_CONSTANT = 1 << 20;

/** The size of an operand in bytes; 0 if it is not known. */
export function sizeOf({ type, dimensions }: Pick<Operand, "type" | "dimensions">): number {
  const name = operandTypeNames.get(type);
  return name === undefined ? 0 : (specifiedByteSize(operandTypes[name], dimensions) ?? 0);
}

/** A constant in a changed model. */
export interface PlacedConstant {
  readonly lifetime: number;
  readonly location: DataLocation;
  /** The values of the changed model, with room for the constant. */
  readonly operandValues: Uint8Array;
}

/** Places a constant at the start of operandValues, over the bytes that are there; or returns in words why there is no room. */
export function placeConstant(
  { operandValues }: Model,
  operand: Pick<Operand, "type" | "dimensions">,
): PlacedConstant | string {
  const length = sizeOf(operand);
  if (length === 0) return "the operand's size is not known, so it cannot become a constant";
  if (length > GREATEST_CONSTANT) return `the operand takes more than ${GREATEST_CONSTANT} bytes as a constant`;
  let values = operandValues;
  if (length > values.length) {
    values = new Uint8Array(length);
    values.set(operandValues);
  }
  return {
    lifetime: OperandLifeTime.CONSTANT_COPY,
    location: { poolIndex: 0, offset: 0, length },
    operandValues: values,
  };
}
