/**
 * The row of transposed convolutions. .tflite gives the shape of the result, and the padding scheme only says where it lies: input elements
 * beyond it are left out, and what no filter reaches is the bias. The HAL's implicit form computes the shape instead, so its explicit form
 * is used where the two differ.
 */
import { elementAt, implicitPadding, PaddingScheme } from "@nnhal/operations";
import { biasOperand } from "../bias.ts";
import type { Lowering } from "../lowering.ts";
import type { OperandSpec } from "../operand-types.ts";
import {
  fusedActivation,
  ignoresComputedShape,
  imageExtents,
  paddingScheme,
  positive,
  type Row,
  shapeOperand,
} from "../row.ts";
import { filterOperand } from "./convolution.ts";

export const transposeConvolution: Row = {
  operator: "TRANSPOSE_CONV",
  version: 5,
  operations: ["TRANSPOSE_CONV_2D"],
  note: "A missing bias becomes zeros. A result that is not of the size that the scheme gives has explicit padding, which may be negative.",
  ignores: ignoresComputedShape(0),
  lower(op: Lowering) {
    const filter = filterOperand(op, 2, 1);
    const filterSpec = op.graph.spec(filter);
    const [units] = imageExtents(op, filterSpec, "the filter");
    const bias = biasOperand(op, 3, op.inputSpec(2), filterSpec, units);
    const operands = [op.input(2), filter, bias];
    const last = [...positive(op, "strideW", "strideH"), fusedActivation(op), op.bool(false)];
    const padding = explicitPadding(op, filterSpec);
    const where = padding === undefined ? [shapeOperand(op, 0), paddingScheme(op)] : padding.map(op.int32);
    op.emit("TRANSPOSE_CONV_2D", [...operands, ...where, ...last], [op.output()]);
  },
};

/** Padding left, right, top and bottom; undefined if the padding scheme gives the result's shape, or if that is not known. */
function explicitPadding(op: Lowering, { dimensions: filter }: OperandSpec): readonly number[] | undefined {
  const image = op.inputSpec(2).dimensions;
  const output = op.constantIntegers(0) ?? op.outputSpec().dimensions;
  if (image.length !== 4 || output.length !== 4 || [...image, ...output].includes(0)) return undefined;
  const isSame = op.text("padding") === "SAME";
  const along = (axis: 1 | 2, stride: number) => {
    const [from, to, window] = [elementAt(image, axis), elementAt(output, axis), elementAt(filter, axis)];
    const [before] = implicitPadding(isSame ? PaddingScheme.SAME : PaddingScheme.VALID, to, stride, window);
    const reached = (from - 1) * stride + window - before;
    const isGiven = isSame ? Math.ceil(to / stride) === from : reached === to;
    return { pads: [before, reached - to], isGiven };
  };
  const [columns, rows] = [along(2, op.number("strideW")), along(1, op.number("strideH"))];
  return columns.isGiven && rows.isGiven ? undefined : [...columns.pads, ...rows.pads];
}
