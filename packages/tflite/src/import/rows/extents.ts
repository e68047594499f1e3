/**
 * Rows of operators that return the extents of a tensor, or their number.
 */
import { listText } from "../../error.ts";
import { bytesOfIntegers, bytesOfWide } from "../bytes.ts";
import { tensorOf } from "../graph.ts";
import type { Lowering } from "../lowering.ts";
import type { Row } from "../row.ts";

/** Makes the result a constant of the integer type that it has in the file. */
function foldIntegers(op: Lowering, values: readonly number[], shape: readonly number[]): void {
  const tensor = op.outputIndex(0);
  const { type } = tensorOf(op.graph, tensor);
  op.ensure(type === "INT32" || type === "INT64", () => `the result: expected INT32 or INT64, got ${type}`);
  op.graph.fold(tensor, type === "INT64" ? bytesOfWide(values) : bytesOfIntegers(values), shape);
}

const shapeOf: Row = {
  operator: "SHAPE",
  version: 1,
  operations: [],
  note: "Becomes a constant; the input's shape must be known.",
  ignores: ({ inputs: [input] }, facts) => (input !== undefined && facts.isStatic(input) ? [0] : []),
  lower(op: Lowering) {
    const dimensions = op.inputTensor(0).shape.length === 0 ? [] : op.inputSpec(0).dimensions;
    op.ensure(!dimensions.includes(0), () => `the input's shape ${listText(dimensions)} is not fully known`);
    foldIntegers(op, dimensions, [dimensions.length]);
  },
};

const rank: Row = {
  operator: "RANK",
  version: 1,
  operations: [],
  note: "Becomes a constant. The HAL's result is a scalar, which no other operation accepts.",
  lower(op: Lowering) {
    op.ensure(op.inputSpec(0).dimensions.length > 0, () => "the number of dimensions of the input is not known");
    foldIntegers(op, [op.inputTensor(0).shape.length], []);
  },
};

export const extentRows: readonly Row[] = [shapeOf, rank];
