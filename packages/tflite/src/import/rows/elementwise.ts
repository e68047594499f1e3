/**
 * Rows of operators that treat each element by itself: arithmetic, comparison, logic and selection.
 */

import type { OperationTypeName } from "@nnhal/types";
import { listText } from "../../error.ts";
import type { Lowering } from "../lowering.ts";
import { isQuant8, isQuantised } from "../operand-types.ts";
import type { ImportedOperatorName } from "../operator-tensors.ts";
import { fusedActivation, inFloatNote, type Row } from "../row.ts";

/** An operator whose tensors are the operation's operands, in the same order. */
function direct(operator: ImportedOperatorName, version: number, operation: OperationTypeName, note?: string): Row {
  return {
    operator,
    version,
    operations: [operation],
    ...(note !== undefined && { note }),
    lower(op: Lowering) {
      op.emitComputed(
        operation,
        op.operator.inputs.map((_, place) => op.input(place)),
      );
    },
  };
}

function activationOf(op: Lowering): number {
  const activation = op.text("fusedActivationFunction");
  op.ensure(
    activation === "NONE" || op.outputSpec().type !== "TENSOR_INT32",
    () => `the HAL cannot apply the activation ${activation} to INT32`,
  );
  return fusedActivation(op);
}

function arithmetic(operator: "ADD" | "SUB" | "MUL" | "DIV", version: number, note?: string): Row {
  return {
    operator,
    version,
    operations: [operator],
    ...(note !== undefined && { note }),
    lower: (op) => op.emitComputed(operator, [op.input(0), op.input(1), activationOf(op)]),
  };
}

const square: Row = {
  operator: "SQUARE",
  version: 1,
  operations: ["MUL"],
  lower: (op) => op.emit("MUL", [op.input(0), op.input(0), op.int32(0)], [op.output()]),
};

function refuseQuantised(op: Lowering): void {
  const { type } = op.outputSpec();
  op.ensure(!isQuantised(type), () => `the HAL computes it for floats and INT32 only, not for ${type}`);
}

const squaredDifference: Row = {
  operator: "SQUARED_DIFFERENCE",
  version: 2,
  operations: ["SUB", "MUL"],
  note: inFloatNote,
  lower(op: Lowering) {
    const compute = (left: number, right: number, result: number) => {
      const difference = op.graph.temporary(op.graph.spec(result));
      op.emit("SUB", [left, right, op.int32(0)], [difference]);
      op.emit("MUL", [difference, difference, op.int32(0)], [result]);
    };
    if (isQuant8(op.outputSpec().type)) op.inFloat((result) => compute(op.asFloat(0), op.asFloat(1), result));
    else compute(op.input(0), op.input(1), op.output());
  },
};

const floorDivision: Row = {
  operator: "FLOOR_DIV",
  version: 3,
  operations: ["DIV", "FLOOR"],
  note: "INT32: DIV alone, which rounds down.",
  lower(op: Lowering) {
    refuseQuantised(op);
    const inputs = [op.input(0), op.input(1), op.int32(0)];
    if (op.outputSpec().type === "TENSOR_INT32") {
      op.emit("DIV", inputs, [op.output()]);
      return;
    }
    const quotient = op.graph.temporary(op.outputSpec());
    op.emit("DIV", inputs, [quotient]);
    op.emit("FLOOR", [quotient], [op.output()]);
  },
};

const additionOfMany: Row = {
  operator: "ADD_N",
  version: 1,
  operations: ["ADD"],
  lower(op: Lowering) {
    refuseQuantised(op);
    const last = op.operator.inputs.length - 1;
    op.ensure(last >= 1, () => `needs at least 2 inputs, it has ${last + 1}`);
    let sum = op.input(0);
    for (let place = 1; place <= last; place++) {
      const result = place === last ? op.output() : op.graph.temporary(op.outputSpec());
      op.emit("ADD", [sum, op.input(place), op.int32(0)], [result]);
      sum = result;
    }
  },
};

const ceiling: Row = {
  operator: "CEIL",
  version: 1,
  operations: ["NEG", "FLOOR"],
  lower(op: Lowering) {
    const negative = op.graph.temporary(op.outputSpec());
    const floor = op.graph.temporary(op.outputSpec());
    op.emit("NEG", [op.input(0)], [negative]);
    op.emit("FLOOR", [negative], [floor]);
    op.emit("NEG", [floor], [op.output()]);
  },
};

function selection(operator: "SELECT" | "SELECT_V2", version: number): Row {
  return {
    operator,
    version,
    operations: ["SELECT"],
    narrowed: "inputs",
    note: "All shapes must be equal: the HAL does not broadcast here.",
    lower(op: Lowering) {
      const shapes = [op.inputSpec(0), op.inputSpec(1), op.inputSpec(2)].map(({ dimensions }) => listText(dimensions));
      op.ensure(new Set(shapes).size === 1, () => `the HAL does not broadcast the shapes ${shapes.join(", ")} here`);
      op.emit("SELECT", [op.input(0), op.input(1), op.input(2)], [op.output()]);
    },
  };
}

export const elementwiseRows: readonly Row[] = [
  arithmetic("ADD", 6),
  arithmetic("SUB", 5),
  arithmetic("MUL", 8, "8-bit: in float if the result's scale is not greater than the product of the inputs' scales."),
  arithmetic("DIV", 2, inFloatNote),
  square,
  squaredDifference,
  floorDivision,
  additionOfMany,
  ceiling,
  direct("FLOOR", 1, "FLOOR"),
  direct("ABS", 5, "ABS", inFloatNote),
  direct("NEG", 1, "NEG"),
  direct("EXP", 2, "EXP", inFloatNote),
  direct("LOG", 2, "LOG", inFloatNote),
  direct("SIN", 2, "SIN"),
  direct("SQRT", 2, "SQRT", inFloatNote),
  direct("RSQRT", 3, "RSQRT", inFloatNote),
  direct("POW", 1, "POW"),
  { ...direct("MAXIMUM", 4, "MAXIMUM"), narrowed: "inputs" },
  { ...direct("MINIMUM", 4, "MINIMUM"), narrowed: "inputs" },
  direct("PRELU", 1, "PRELU"),
  direct("EQUAL", 5, "EQUAL"),
  direct("NOT_EQUAL", 4, "NOT_EQUAL"),
  direct("GREATER", 2, "GREATER"),
  direct("GREATER_EQUAL", 3, "GREATER_EQUAL"),
  direct("LESS", 3, "LESS"),
  direct("LESS_EQUAL", 2, "LESS_EQUAL"),
  direct("LOGICAL_AND", 1, "LOGICAL_AND"),
  direct("LOGICAL_OR", 1, "LOGICAL_OR"),
  direct("LOGICAL_NOT", 1, "LOGICAL_NOT"),
  direct("HARD_SWISH", 1, "HARD_SWISH"),
  selection("SELECT", 4),
  selection("SELECT_V2", 2),
];
