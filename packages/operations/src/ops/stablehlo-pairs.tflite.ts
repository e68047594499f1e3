/**
 * The operators of StableHLO of two tensors of one shape, element by element. They take no account of scales: quantised elements are
 * integers that wrap.
 */
import { defineOperation } from "../define.ts";
import { type AnyOperandType, elementFactsOf } from "../operand-type.ts";
import { tensor, wide } from "../params.ts";
import { ensureShape } from "../shape.ts";
import { combineElements, type PairFunctions } from "./_elementwise.tflite.ts";
import { movedInfo } from "./_moved.ts";
import { floatTypes, integerTypes, quantisedTypes, smallIntegerTypes, stablehloTypes } from "./_types.tflite.ts";

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
function stablehloPair<const Name extends string>(given: StablehloPair<Name>) {
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

/** The operators. */
export const stablehloPairs = [
  stablehloPair({
    name: "STABLEHLO_ADD",
    code: 1163,
    summary: "The sums of the elements of two tensors of one shape; integers wrap.",
    types: stablehloTypes,
    functions: () => ({
      real: (left, right) => left + right,
      integer: (left, right) => left + right,
      long: (left, right) => left + right,
    }),
  }),
  stablehloPair({
    name: "STABLEHLO_AND",
    code: 1176,
    summary: "The bits that the elements of two tensors of one shape have in common.",
    types: [...integerTypes, ...quantisedTypes, "TENSOR_BOOL8"],
    functions: (type) => ({
      integer:
        type === "TENSOR_BOOL8" ? (left, right) => Number(left !== 0 && right !== 0) : (left, right) => left & right,
      long: (left, right) => left & right,
    }),
  }),
  stablehloPair({
    name: "STABLEHLO_MAXIMUM",
    code: 1166,
    summary: "The greater of the elements at each place of two tensors of one shape.",
    types: stablehloTypes,
    functions: () => ({
      real: Math.max,
      integer: Math.max,
      long: (left, right) => (left > right ? left : right),
    }),
  }),
  stablehloPair({
    name: "STABLEHLO_MINIMUM",
    code: 1181,
    summary: "The lesser of the elements at each place of two tensors of one shape.",
    types: stablehloTypes,
    functions: () => ({
      real: Math.min,
      integer: Math.min,
      long: (left, right) => (left < right ? left : right),
    }),
  }),
  stablehloPair({
    name: "STABLEHLO_MULTIPLY",
    code: 1165,
    summary: "The products of the elements of two tensors of one shape; integers wrap.",
    types: stablehloTypes,
    functions: () => ({
      real: (left, right) => left * right,
      integer: Math.imul,
      long: (left, right) => left * right,
    }),
  }),
  // STABLEHLO_SHIFT_LEFT of integers. Distances below 0, and those of as many bits as the type has or more, leave 0.
  stablehloPair({
    name: "STABLEHLO_SHIFT_LEFT",
    code: 1207,
    summary: "Each element shifted left by that of the second tensor of the same shape.",
    types: smallIntegerTypes,
    functions(type) {
      const bits = 8 * elementFactsOf(type).elementSize;
      return { integer: (value, distance) => (distance >= 0 && distance < bits ? value << distance : 0) };
    },
  }),
] as const;
