/**
 * Rows of the arithmetic that most models have: ADD, SUB, MUL and DIV, and activations of two operands or more pieces.
 */
import type { Lowering } from "../lowering.ts";
import { fusedActivation, type Row } from "../row.ts";
import { direct, isWideInteger, one } from "./_elementwise.ts";

/** Emits ADD, SUB, MUL or DIV. Of integers the HAL applies no activation, the extension does. */
function emitArithmetic(op: Lowering, operation: "ADD" | "SUB" | "MUL" | "DIV"): void {
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

const division: Row = {
  operator: "DIV",
  version: 2,
  operations: ["DIV", "NEG", "MINIMUM", "MAXIMUM"],
  lower(op: Lowering) {
    const spec = op.outputSpec();
    const isActivated = op.text("fusedActivationFunction") !== "NONE";
    if (spec.type !== "TENSOR_INT32" || isActivated || isWideInteger(spec)) {
      emitArithmetic(op, "DIV");
      return;
    }
    const activation = op.int32(0);
    const result = () => op.graph.temporary(spec);
    const [down, negated, up, raised] = [result(), result(), result(), result()];
    const negative = op.graph.temporary(op.inputSpec(0));
    op.emit("DIV", [op.input(0), op.input(1), activation], [down]);
    op.emit("NEG", [op.input(0)], [negative]);
    op.emit("DIV", [negative, op.input(1), activation], [negated]);
    op.emit("NEG", [negated], [up]);
    // Of a quotient above 0 the one that is rounded down is taken, of one below 0 the one that is rounded up.
    op.emit("MINIMUM", [up, one(op, 0, spec)], [raised]);
    op.emit("MAXIMUM", [down, raised], [op.output()]);
  },
};

export const arithmeticRows: readonly Row[] = [
  arithmetic("ADD", 6),
  arithmetic("SUB", 5),
  arithmetic("MUL", 8),
  division,
  direct("EXP", 2, "EXP"),
  direct("PRELU", 1, "PRELU"),
  direct("HARD_SWISH", 1, "HARD_SWISH"),
];
