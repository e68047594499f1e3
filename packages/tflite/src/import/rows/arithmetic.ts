/**
 * Rows of the arithmetic that most models have: ADD, SUB and MUL, and activations of two operands or more pieces.
 */
import type { Lowering } from "../lowering.ts";
import { fusedActivation, type Row } from "../row.ts";
import { direct } from "./_elementwise.ts";

/** Emits ADD, SUB, MUL or DIV. Of integers the HAL applies no activation, the extension does. */
export function emitArithmetic(op: Lowering, operation: "ADD" | "SUB" | "MUL" | "DIV"): void {
  const inputs = [op.input(0), op.input(1), fusedActivation(op)];
  const activation = op.text("fusedActivationFunction");
  const isActivated = activation !== "NONE" && op.outputSpec().type === "TENSOR_INT32";
  if (isActivated && op.emitExtended(operation, inputs, [op.output()])) return;
  op.ensure(!isActivated, () => `the HAL cannot apply the activation ${activation} to INT32`);
  op.emitComputed(operation, inputs);
}

function arithmetic(operator: "ADD" | "SUB" | "MUL", version: number): Row {
  return {
    operator,
    version,
    operations: [operator],
    lower: (op) => emitArithmetic(op, operator),
  };
}

export const arithmeticRows: readonly Row[] = [
  arithmetic("ADD", 6),
  arithmetic("SUB", 5),
  arithmetic("MUL", 8),
  direct("EXP", 2, "EXP"),
  direct("PRELU", 1, "PRELU"),
  direct("HARD_SWISH", 1, "HARD_SWISH"),
];
