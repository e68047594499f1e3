/**
 * Rows of operators that add axes of extent 1, remove them, or change the order of axes.
 */
import type { Lowering } from "../lowering.ts";
import type { Row } from "../row.ts";

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
        ? op.graph.omit("TENSOR_INT32", 1)
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

export const axisRows: readonly Row[] = [squeeze, expandDims, transpose];
