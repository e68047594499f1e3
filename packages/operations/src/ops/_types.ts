/**
 * Type rows of operations whose operands all have one type, or all tensors one and all scalars another.
 */
import type { HalVersion, OperandTypeName } from "@nnhal/types";
import type { TypeRow } from "../define.ts";
import type { Param } from "../params.ts";

/** A type, and the HAL version since which an operation takes it. */
export type SinceType = readonly [since: HalVersion, type: OperandTypeName];

/** One row for each type, with the type in all columns; `columns` counts inputs and outputs. */
export function rowsOfOneType(columns: number, types: readonly SinceType[]): TypeRow[] {
  return types.map(([since, type]) => [since, ...new Array<OperandTypeName>(columns).fill(type)]);
}

/** The row in which all tensors of varying type are of one type and all scalars of varying type of another. */
export function uniformRow(
  since: HalVersion,
  params: readonly Param[],
  tensorType: OperandTypeName,
  scalarType: OperandTypeName,
): TypeRow {
  const types = params
    .filter(({ type }) => type === undefined)
    .map(({ kind }) => (kind === "tensor" ? tensorType : scalarType));
  return [since, ...types];
}
