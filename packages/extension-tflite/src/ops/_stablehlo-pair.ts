/**
 * The operators of StableHLO of two tensors of one shape, element by element. They take no account of scales: quantised elements are
 * integers that wrap.
 */
import type { AnyOperandType } from "@nnhal/operations";
import { defineOperation, ensureShape, tensor, wide } from "@nnhal/operations/authoring";
import { movedInfo } from "@nnhal/operations/kernels";
import { combineElements, type PairFunctions } from "../_elementwise.ts";
import { floatTypes, realTypes } from "../_types.ts";

/** The types of arithmetic. */
export const stablehloTypes = realTypes.filter((type) => type !== "TENSOR_BOOL8");

/** The part of a definition that differs within the family. */
interface StablehloPair<Name extends string> {
  readonly name: Name;
  readonly code: number;
  readonly summary: string;
  readonly types: readonly AnyOperandType[];
  /** Of floats (`real`), of integers of at most 32 bits, and of 64-bit ones. */
  readonly functions: (type: AnyOperandType) => PairFunctions;
}

/** Defines one of the operators. */
export function stablehloPair<const Name extends string>(given: StablehloPair<Name>) {
  const { name, code, summary, types, functions } = given;
  return defineOperation({
    name,
    code,
    summary,
    params: [wide(tensor("lhs")), wide(tensor("rhs"))],
    outputs: [wide(tensor("output"))],
    types: types.map((type) => ["1.2", type, type, type] as const),
    infer({ lhs, rhs }) {
      ensureShape("rhs", rhs, lhs.dimensions);
      return { output: movedInfo(lhs, lhs.dimensions) };
    },
    reference({ lhs, rhs }, { output }) {
      const { real, ...others } = functions(lhs.type);
      const isFloat = floatTypes.some((type) => type === lhs.type);
      return combineElements(lhs, rhs, output, isFloat && real !== undefined ? { real } : others);
    },
  });
}
