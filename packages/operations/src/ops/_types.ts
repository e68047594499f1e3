/**
 * Type rows of operations whose operands all have one type.
 */
import type { HalVersion, OperandTypeName } from "@nnhal/types";
import type { TypeRow } from "../define.ts";

/** A type, and the HAL version since which an operation takes it. */
export type SinceType = readonly [since: HalVersion, type: OperandTypeName];

/** One row for each type, with the type in all columns; `columns` counts inputs and outputs. */
export function rowsOfOneType(columns: number, types: readonly SinceType[]): TypeRow[] {
  return types.map(([since, type]) => [since, ...new Array<OperandTypeName>(columns).fill(type)]);
}
