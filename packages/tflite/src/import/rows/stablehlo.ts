/**
 * Rows of the operators of StableHLO that compute: the HAL's operation of the same meaning for the types for which that is exact, else the
 * extension's. Bodies of reductions are recognised, not run.
 */
import { typeText } from "@nnhal/operations";
import type { OperationTypeName } from "@nnhal/types";
import { listText } from "../../error.ts";
import type { TfliteOperator } from "../../model.ts";
import type { Lowering } from "../lowering.ts";
import type { ImportedOperatorName } from "../operator-tensors.ts";
import type { Row } from "../row.ts";

/** The HAL's types whose elements stand for themselves. Others are quantised in the HAL, and not in StableHLO. */
const plainTypes: ReadonlySet<unknown> = new Set(["TENSOR_FLOAT32", "TENSOR_FLOAT16", "TENSOR_INT32"]);

const elementsNote =
  "Of floats, INT32 and BOOL; others are of the extension, as integers that wrap. The shapes must be equal.";

/**
 * An operator of two tensors, which do not broadcast. `logical`: the operation of truth values. `more`: operands of the HAL's operation after the
 * tensors.
 */
function pair(
  operator: ImportedOperatorName,
  operation: OperationTypeName,
  logical: OperationTypeName,
  more: (op: Lowering) => readonly number[] = () => [],
): Row {
  return {
    operator,
    version: 1,
    operations: [operation, logical],
    note: elementsNote,
    lower(op: Lowering) {
      const [lhs, rhs] = [op.inputSpec(0), op.inputSpec(1)];
      const isLogical = lhs.type === "TENSOR_BOOL8";
      op.ensure(
        isLogical || plainTypes.has(lhs.type),
        () => `the HAL computes it for floats, INT32 and BOOL only, not for ${typeText(lhs.type)}`,
      );
      ensureSameShape(op, lhs.dimensions, rhs.dimensions);
      if (isLogical) op.emit(logical, [op.input(0), op.input(1)], [op.output()]);
      else op.emit(operation, [op.input(0), op.input(1), ...more(op)], [op.output()]);
    },
  };
}

function ensureSameShape(op: Lowering, lhs: readonly number[], rhs: readonly number[]): void {
  op.ensure(
    lhs.length === rhs.length && lhs.every((extent, axis) => extent === rhs[axis] || extent === 0 || rhs[axis] === 0),
    () => `expected equal shapes, got ${listText(lhs)} and ${listText(rhs)}`,
  );
}

const and: Row = {
  operator: "STABLEHLO_AND",
  version: 1,
  operations: ["LOGICAL_AND"],
  note: "Of BOOL; integers are of the extension. The shapes must be equal.",
  lower(op: Lowering) {
    const [lhs, rhs] = [op.inputSpec(0), op.inputSpec(1)];
    op.ensure(lhs.type === "TENSOR_BOOL8", () => `the HAL has it for BOOL only, not for ${typeText(lhs.type)}`);
    ensureSameShape(op, lhs.dimensions, rhs.dimensions);
    op.emit("LOGICAL_AND", [op.input(0), op.input(1)], [op.output()]);
  },
};

/** The functions of bodies, by operator: the codes of ReduceWindowFunction. */
const functions: ReadonlyMap<string, number> = new Map([
  ["ADD", 1],
  ["STABLEHLO_ADD", 1],
  ["MUL", 2],
  ["STABLEHLO_MULTIPLY", 2],
  ["MINIMUM", 3],
  ["STABLEHLO_MINIMUM", 3],
  ["MAXIMUM", 4],
  ["STABLEHLO_MAXIMUM", 4],
  ["LOGICAL_AND", 5],
  ["STABLEHLO_AND", 5],
  ["LOGICAL_OR", 6],
  ["STABLEHLO_OR", 6],
]);

const MAXIMUM = 4;

/** The code of the function of the body that an option names. `keep`: that of a body that returns its second input; absent: refused. */
function bodyFunction(op: Lowering, option: string, keep?: number): number {
  const index = op.number(option);
  const body = op.storedSubgraph(index);
  op.ensure(body !== undefined, () => `there is no subgraph ${index}, which option ${option} names`);
  const { inputs, outputs, operators } = body;
  const [first, ...more] = operators;
  const [left, right] = inputs;
  if (keep !== undefined && first === undefined && inputs.length === 2 && outputs.join() === `${right}`) return keep;
  const known = first && more.length === 0 ? functionOf(first) : undefined;
  // AND and OR of integers combine bits, which a reduction of TensorFlow Lite does not, and a scatter does not have.
  const code = keep !== undefined && known !== undefined && known > MAXIMUM ? undefined : known;
  const isDirect =
    inputs.length === 2 &&
    [`${left},${right}`, `${right},${left}`].includes(first?.inputs.join() ?? "") &&
    first?.outputs.join() === outputs.join();
  const names = keep === undefined ? "MINIMUM, MAXIMUM, AND or OR" : "MINIMUM or MAXIMUM";
  const found = first === undefined ? "" : `, the first one ${first.name}`;
  op.ensure(
    code !== undefined && isDirect,
    () =>
      `subgraph ${index}: expected one ADD, MUL, ${names} of its two inputs, got ${operators.length} operators${found}`,
  );
  return code;
}

function functionOf({ name, options }: TfliteOperator): number | undefined {
  const activation = options["fusedActivationFunction"] ?? "NONE";
  if (activation !== "NONE") return undefined;
  return functions.get(name);
}

/** An operator that the extension alone has. */
function extend(operator: ImportedOperatorName, derivedOptions: NonNullable<Row["derivedOptions"]>, note: string): Row {
  return {
    operator,
    version: 1,
    operations: [],
    note,
    prefersExtension: () => true,
    derivedOptions,
    lower: (op: Lowering) => op.fail(`the HAL has no counterpart of operator ${operator}`),
  };
}

export const stablehloRows: readonly Row[] = [
  pair("STABLEHLO_ADD", "ADD", "LOGICAL_OR", (op) => [op.int32(0)]),
  pair("STABLEHLO_MULTIPLY", "MUL", "LOGICAL_AND", (op) => [op.int32(0)]),
  pair("STABLEHLO_MAXIMUM", "MAXIMUM", "LOGICAL_OR"),
  pair("STABLEHLO_MINIMUM", "MINIMUM", "LOGICAL_AND"),
  and,
  extend(
    "STABLEHLO_SCATTER",
    (op) => ({ updateFunction: bodyFunction(op, "updateComputationSubgraphIndex", 0) }),
    "The body must be one of ADD, MUL, MINIMUM, MAXIMUM, or return the update.",
  ),
  extend(
    "STABLEHLO_REDUCE_WINDOW",
    (op) => ({ reduceFunction: bodyFunction(op, "bodySubgraphIndex") }),
    "The body must be one of ADD, MUL, MINIMUM, MAXIMUM, AND, OR. AND and OR are logical for integers too, as in TensorFlow Lite.",
  ),
  extend(
    "STABLEHLO_RNG_BIT_GENERATOR",
    (op) => ({ shape: resultShape(op, 1) }),
    "DEFAULT is PHILOX. The shape of the bits is the stored one.",
  ),
];

/** The shape of an output as it is stored. */
function resultShape(op: Lowering, place: number): readonly number[] {
  const { shape } = op.outputTensor(place);
  return shape.length === 0 ? [1] : shape;
}
