/**
 * Operations that turn each element of one tensor into one of the same type.
 */
import { OperationType, type OperationTypeName } from "@nnhal/types";
import { defineOperation, type RankRule } from "../define.ts";
import { tensor } from "../params.ts";
import type { TensorData } from "../tensor.ts";
import type { WorkKind } from "../work.ts";
import { rowsOfOneType, type SinceType } from "./_types.ts";

/** The part of a definition that differs within the family. */
export interface Unary<Name extends OperationTypeName> {
  readonly name: Name;
  /** In terms of an element x. */
  readonly summary: string;
  readonly types: readonly SinceType[];
  /** Default: `element`. */
  readonly work?: WorkKind;
  /** Absent: any rank. */
  readonly rank?: RankRule;
  /** Computes the results of the elements [first, end). */
  readonly loop: (input: TensorData, output: TensorData, first: number, end: number) => void;
}

/** Defines one of the operations. */
export function unary<const Name extends OperationTypeName>({ name, summary, types, work, rank, loop }: Unary<Name>) {
  return defineOperation({
    name,
    code: OperationType[name],
    summary,
    params: [tensor("input")],
    outputs: [tensor("output")],
    types: rowsOfOneType(2, types),
    ranks: rank === undefined ? {} : { input: rank },
    ...(work && { work }),
    infer: ({ input }) => ({ output: { dimensions: input.dimensions } }),
    reference: ({ input }, { output }) => ({
      units: output.data.length,
      apart: true,
      compute: (first, end) => loop(input.data, output.data, first, end),
    }),
  });
}
