/**
 * ADD, SUB, MUL and DIV in all types and ranks of .tflite. There is no rule for the scales of quantised operands, and integers have
 * activations.
 */
import type { AnyOperandType, Phase, TypeRow } from "@nnhal/operations";
import { inferBroadcast } from "@nnhal/operations/authoring";
import type { AnyOutput, AnyTensor } from "../_elements.ts";
import { anyRank, combineElements, type PairFunctions } from "../_elementwise.ts";
import { complexTypes } from "../_types.ts";
import { widerOf } from "../_wider.ts";

type ArithmeticName = "ADD" | "SUB" | "MUL" | "DIV";

/** The part of a definition that differs within the family. */
interface Arithmetic {
  readonly types: readonly AnyOperandType[];
  readonly rows?: readonly TypeRow[];
  /** The functions for these operands. Throws an OperationError if they have no result. */
  readonly functions: (left: AnyTensor, right: AnyTensor) => PairFunctions;
  /** The kernel of complex numbers, if it has such types. */
  readonly complex?: (left: AnyTensor, right: AnyTensor, output: AnyOutput, activation: number) => readonly Phase[];
}

/** Defines one of the operations. */
export function arithmetic<const Name extends ArithmeticName>(
  name: Name,
  { types, rows = [], functions, complex }: Arithmetic,
) {
  return widerOf<ArithmeticName, Name>(name, {
    from: "TENSOR_FLOAT32",
    types,
    rows,
    ranks: { left: anyRank, right: anyRank },
    check: () => undefined,
    infer: ({ left, right }) => inferBroadcast(left, right),
    reference({ left, right, activation }, { output }) {
      return complex !== undefined && complexTypes.some((type) => type === output.type)
        ? complex(left, right, output, activation)
        : combineElements(left, right, output, functions(left, right), activation);
    },
  });
}
