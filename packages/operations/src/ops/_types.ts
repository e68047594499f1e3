/**
 * Type rows of operations whose operands all have one type, or all tensors one and all scalars another.
 */
import type { HalVersion, OperandTypeName } from "@nnhal/types";
import type { RowOf, RowOfLength } from "../define.ts";
import type { Param } from "../params.ts";

/** A type, and the HAL version since which an operation takes it. */
export type SinceType = readonly [since: HalVersion, type: OperandTypeName];

/** One row for each type, with the type in all columns; `columns` counts inputs and outputs. */
export function rowsOfOneType<Columns extends 2 | 3>(
  columns: Columns,
  types: readonly SinceType[],
): readonly RowOfLength<Columns>[] {
  const row = ([since, type]: SinceType) => [since, ...new Array<OperandTypeName>(columns).fill(type)];
  // The row has as many types as there are columns, which an array does not say.
  return types.map(row) as unknown as readonly RowOfLength<Columns>[];
}

/** The row in which all tensors of varying type are of one type and all scalars of varying type of another. */
export function uniformRow<const Params extends readonly Param[]>(
  since: HalVersion,
  params: Params,
  tensorType: OperandTypeName,
  scalarType: OperandTypeName,
): RowOf<Params, readonly []> {
  const types = params
    .filter(({ type }) => type === undefined)
    .map(({ kind }) => (kind === "tensor" ? tensorType : scalarType));
  // The filter leaves as many as there are columns, which an array does not say.
  return [since, ...types] as unknown as RowOf<Params, readonly []>;
}
