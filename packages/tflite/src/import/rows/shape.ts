/**
 * Rows of operators that change a tensor's shape and keep the order of its elements, and of operators that return the shape.
 */

import { elementAt } from "@nnhal/operations";
import { listText } from "../../error.ts";
import { bytesOfIntegers, bytesOfWide } from "../bytes.ts";
import type { Lowering } from "../lowering.ts";
import { ignoresComputedShape, type Row, shapeOperand, targetShape } from "../row.ts";

/** RESHAPE to the result's own dimensions. */
function reshapeToResult(op: Lowering): void {
  op.emitMoved("RESHAPE", [op.input(0), targetShape(op, op.outputSpec().dimensions)], op.inputSpec(0));
}

/** Refuses a target shape that the elements of the input do not fill; an extent of -1 is computed. */
function ensureElements(op: Lowering, shape: readonly number[]): void {
  const { dimensions } = op.inputSpec(0);
  if (dimensions.includes(0) || shape.length === 0 || shape.includes(0)) return;
  const count = dimensions.reduce((product, extent) => product * extent, 1);
  const open = shape.filter((extent) => extent === -1).length;
  const known = shape.reduce((product, extent) => (extent === -1 ? product : product * extent), 1);
  op.ensure(
    shape.every((extent) => extent >= -1) && (open === 0 ? known === count : open === 1 && count % known === 0),
    () => `${count} elements do not fill the shape ${listText(shape)}`,
  );
}

const reshape: Row = {
  operator: "RESHAPE",
  version: 1,
  operations: ["RESHAPE"],
  narrowed: "inputs",
  note: "A computed shape is replaced by the result's own if that is known.",
  ignores: ignoresComputedShape(1),
  lower(op: Lowering) {
    if (op.has(1)) {
      ensureElements(op, op.constantIntegers(1) ?? []);
      op.emitMoved("RESHAPE", [op.input(0), shapeOperand(op, 1)], op.inputSpec(0));
      return;
    }
    const shape = op.list("newShape");
    ensureElements(op, shape ?? []);
    if (!shape?.length || (shape.length === 1 && shape[0] === 0)) reshapeToResult(op);
    else op.emitMoved("RESHAPE", [op.input(0), op.int32Tensor(shape)], op.inputSpec(0));
  },
};

const squeeze: Row = {
  operator: "SQUEEZE",
  version: 2,
  operations: ["SQUEEZE"],
  narrowed: "inputs",
  lower(op: Lowering) {
    const rank = op.inputSpec(0).dimensions.length;
    const listed = op.list("squeezeDims") ?? [];
    const dims =
      listed.length === 0
        ? op.graph.omitted("TENSOR_INT32", 1)
        : op.int32Tensor(listed.map((dimension) => op.axis(dimension, rank)));
    op.emitMoved("SQUEEZE", [op.input(0), dims], op.inputSpec(0));
  },
};

const expandDims: Row = {
  operator: "EXPAND_DIMS",
  version: 1,
  operations: ["EXPAND_DIMS", "RESHAPE"],
  narrowed: "inputs",
  note: "RESHAPE for a scalar. An axis that is computed: of the extension.",
  lower(op: Lowering) {
    const { shape } = op.inputTensor(0);
    if (shape.length === 0) {
      op.emitMoved("RESHAPE", [op.input(0), op.int32Tensor([1])], op.inputSpec(0));
      return;
    }
    const isComputed = op.constantIntegers(1) === undefined;
    if (isComputed && op.emitExtended("EXPAND_DIMS", [op.input(0), op.input(1)], [op.output()])) return;
    const axis = op.axis(op.integer(1, "the axis"), shape.length + 1);
    op.emitMoved("EXPAND_DIMS", [op.input(0), op.int32(axis)], op.inputSpec(0));
  },
};

const transpose: Row = {
  operator: "TRANSPOSE",
  version: 9,
  operations: ["TRANSPOSE"],
  narrowed: "inputs",
  lower(op: Lowering) {
    const axes = op.constantIntegers(1);
    const rank = op.inputSpec(0).dimensions.length;
    // The HAL counts axes from the front.
    const hasNegative = axes?.some((axis) => axis < 0);
    const permutation = hasNegative ? op.int32Tensor(axes?.map((axis) => op.axis(axis, rank)) ?? []) : op.input(1);
    op.emitMoved("TRANSPOSE", [op.input(0), permutation], op.inputSpec(0));
  },
};

/** Makes the result a constant of the integer type that it has in the file. */
function foldIntegers(op: Lowering, values: readonly number[], shape: readonly number[]): void {
  const tensor = op.outputIndex(0);
  const { type } = elementAt(op.graph.subgraph.tensors, tensor);
  op.ensure(type === "INT32" || type === "INT64", () => `the result has to be INT32 or INT64, it is ${type}`);
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

export const shapeRows: readonly Row[] = [reshape, squeeze, expandDims, transpose, shapeOf, rank];
