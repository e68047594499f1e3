/**
 * Rows of operators that treat each element by itself: comparison, logic, selection, and arithmetic that few models have.
 */

import { typeText } from "@nnhal/operations";
import type { OperationTypeName } from "@nnhal/types";
import { listText } from "../../error.ts";
import { bytesOfFloat, bytesOfIntegers } from "../bytes.ts";
import type { Lowering } from "../lowering.ts";
import { isQuant8, isQuantised, type OperandSpec } from "../operand-types.ts";
import type { ImportedOperatorName } from "../operator-tensors.ts";
import { inFloatNote, type Row } from "../row.ts";
import { direct } from "./_elementwise.ts";
import { emitArithmetic } from "./arithmetic.ts";

/** a - b * floor(a / b), which INT32 holds exactly. */
const floorRemainder: Row = {
  operator: "FLOOR_MOD",
  version: 2,
  operations: ["DIV", "MUL", "SUB"],
  note: "INT32.",
  prefersExtension: (op) => isWideInteger(op.outputSpec()),
  lower(op: Lowering) {
    const spec = op.outputSpec();
    op.ensure(spec.type === "TENSOR_INT32", () => `the HAL computes it exactly for INT32 only, not for ${spec.type}`);
    const [quotient, product] = [op.graph.temporary(spec), op.graph.temporary(spec)];
    op.emit("DIV", [op.input(0), op.input(1), op.int32(0)], [quotient]);
    op.emit("MUL", [quotient, op.input(1), op.int32(0)], [product]);
    op.emit("SUB", [op.input(0), product, op.int32(0)], [op.output()]);
  },
};

/** Dimensions that the HAL's arithmetic takes. */
const MOST_AXES = 4;

/** True if a result is of integers with more dimensions than the HAL divides, so that DIV would be the extension's, which rounds to 0. */
function isWideInteger({ type, dimensions }: OperandSpec): boolean {
  return type === "TENSOR_INT32" && dimensions.length > MOST_AXES;
}

/** A constant of one element. */
function one(op: Lowering, value: number, { type }: OperandSpec): number {
  const spec: OperandSpec = { type, dimensions: [1], scale: 0, zeroPoint: 0 };
  const bytes = type === "TENSOR_INT32" ? bytesOfIntegers([value]) : bytesOfFloat(value, type);
  return op.graph.share(`${type}[1] ${value}`, spec, bytes);
}

/** Quotients of integers are rounded to 0, which the HAL rounds down. */
const division: Row = {
  operator: "DIV",
  version: 2,
  operations: ["DIV", "NEG", "MINIMUM", "MAXIMUM"],
  note: "INT32: the HAL's DIV rounds down, so the quotient that is rounded up is computed as well, for negative ones. 8-bit: DEQUANTIZE, in float, QUANTIZE.",
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

/** A clamp to [0, 1] of floats. */
const unitRectifier: Row = {
  operator: "RELU_0_TO_1",
  version: 1,
  operations: ["MAXIMUM", "MINIMUM"],
  note: "Floats.",
  lower(op: Lowering) {
    const spec = op.outputSpec();
    op.ensure(isFloatSpec(spec), () => `the HAL computes it exactly for floats only, not for ${typeText(spec.type)}`);
    const lower = op.graph.temporary(spec);
    op.emit("MAXIMUM", [op.input(0), one(op, 0, spec)], [lower]);
    op.emit("MINIMUM", [lower, one(op, 1, spec)], [op.output()]);
  },
};

const square: Row = {
  operator: "SQUARE",
  version: 1,
  operations: ["MUL"],
  lower: (op) => op.emit("MUL", [op.input(0), op.input(0), op.int32(0)], [op.output()]),
};

function refuseQuantised(op: Lowering): void {
  const { type } = op.outputSpec();
  op.ensure(!isQuantised(type), () => `the HAL computes it for floats and INT32 only, not for ${typeText(type)}`);
}

function isFloatSpec({ type }: OperandSpec): boolean {
  return type === "TENSOR_FLOAT32" || type === "TENSOR_FLOAT16";
}

/** Scales from which on TensorFlow Lite's comparisons tell neighbouring elements apart. */
const LEAST_COMPARED_SCALE = 2 ** -8;

/**
 * A comparison. TensorFlow Lite compares 8-bit elements in units of 1/256 of the real numbers, the HAL exactly: they agree if both operands
 * have one quantisation, whose steps are at least such units.
 */
function comparison(operator: ImportedOperatorName & OperationTypeName, version: number): Row {
  return {
    ...direct(
      operator,
      version,
      operator,
      "8-bit: of the extension, unless both inputs have the same scale of at least 2^-8.",
    ),
    lower(op: Lowering) {
      const [left, right] = [op.inputSpec(0), op.inputSpec(1)];
      const isSame = left.scale === right.scale && left.zeroPoint === right.zeroPoint;
      const isExact = !isQuant8(left.type) || (isSame && left.scale >= LEAST_COMPARED_SCALE);
      const inputs = [op.input(0), op.input(1)];
      if (!isExact && op.emitExtended(operator, inputs, [op.output()])) return;
      op.emitComputed(operator, inputs);
    },
  };
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
  note: "INT32: DIV alone, which rounds down. Floats: of the extension, which refuses a divisor of 0, unless the divisor is a constant without 0.",
  prefersExtension: (op) =>
    isWideInteger(op.outputSpec()) || (op.outputSpec().type === "TENSOR_FLOAT32" && mayHaveZero(op, 1)),
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

/** True if elements of a float input may be 0. */
function mayHaveZero(op: Lowering, place: number): boolean {
  const bytes = op.graph.constantBytes(op.inputIndex(place));
  if (bytes === undefined) return true;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Array.from({ length: bytes.length / 4 }, (_, i) => view.getFloat32(4 * i, true)).includes(0);
}

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

/** SQRT. TensorFlow Lite rounds 8-bit results down, and so does the extension. */
const squareRoot: Row = {
  ...direct(
    "SQRT",
    2,
    "SQRT",
    `8-bit: of the extension, which rounds down; without it ${inFloatNote.slice("8-bit: ".length)}`,
  ),
  lower(op: Lowering) {
    if (isQuant8(op.outputSpec().type) && op.emitExtended("SQRT", [op.input(0)], [op.output()])) return;
    op.emitComputed("SQRT", [op.input(0)]);
  },
};

/** Quantisation of the elements of an operand, as a text to compare. */
const quantisationText = ({ scale, zeroPoint }: OperandSpec) => `${scale} ${zeroPoint}`;

/** MAXIMUM or MINIMUM. The HAL's operation converts elements; TensorFlow Lite compares what is stored, and so does the extension. */
function extreme(operator: "MAXIMUM" | "MINIMUM"): Row {
  return {
    ...direct(operator, 4, operator, "8-bit: of the extension, unless all tensors have one quantisation."),
    narrowed: "inputs",
    lower(op: Lowering) {
      const inputs = [op.input(0), op.input(1)];
      const quantisations = new Set([op.outputSpec(), op.inputSpec(0), op.inputSpec(1)].map(quantisationText));
      if (quantisations.size > 1 && op.emitExtended(operator, inputs, [op.output()])) return;
      op.emitComputed(operator, inputs);
    },
  };
}

function selection(operator: "SELECT" | "SELECT_V2", version: number): Row {
  return {
    operator,
    version,
    operations: ["SELECT"],
    narrowed: "inputs",
    note: "All shapes must be equal: the HAL does not broadcast here.",
    lower(op: Lowering) {
      // The HAL's operation converts elements; TensorFlow Lite copies what is stored, and so does the extension.
      const [result, ...sources] = [op.outputSpec(), op.inputSpec(1), op.inputSpec(2)].map(quantisationText);
      const isEqual = sources.every((source) => source === result);
      if (!isEqual && op.emitExtended("SELECT", [op.input(0), op.input(1), op.input(2)], [op.output()])) return;
      const shapes = [op.inputSpec(0), op.inputSpec(1), op.inputSpec(2)].map(({ dimensions }) => listText(dimensions));
      // A condition of one dimension chooses rows.
      const isOfRows = operator === "SELECT" && new Set(shapes).size > 1;
      if (isOfRows && op.emitExtended("SELECT", [op.input(0), op.input(1), op.input(2)], [op.output()])) return;
      op.ensure(new Set(shapes).size === 1, () => `the HAL does not broadcast the shapes ${shapes.join(", ")} here`);
      op.emit("SELECT", [op.input(0), op.input(1), op.input(2)], [op.output()]);
    },
  };
}

export const elementwiseRows: readonly Row[] = [
  division,
  floorRemainder,
  unitRectifier,
  square,
  squaredDifference,
  floorDivision,
  additionOfMany,
  ceiling,
  direct("FLOOR", 1, "FLOOR"),
  direct("ABS", 5, "ABS", inFloatNote),
  direct("NEG", 1, "NEG"),
  direct("LOG", 2, "LOG", inFloatNote),
  direct("SIN", 2, "SIN"),
  squareRoot,
  direct("RSQRT", 3, "RSQRT", inFloatNote),
  direct("POW", 1, "POW"),
  extreme("MAXIMUM"),
  extreme("MINIMUM"),
  comparison("EQUAL", 5),
  comparison("NOT_EQUAL", 4),
  comparison("GREATER", 2),
  comparison("GREATER_EQUAL", 3),
  comparison("LESS", 3),
  comparison("LESS_EQUAL", 2),
  direct("LOGICAL_AND", 1, "LOGICAL_AND"),
  direct("LOGICAL_OR", 1, "LOGICAL_OR"),
  direct("LOGICAL_NOT", 1, "LOGICAL_NOT"),
  selection("SELECT", 4),
  selection("SELECT_V2", 2),
];
