/** The row of transposed convolutions. */
import { biasOperand } from "../bias.ts";
import type { Lowering } from "../lowering.ts";
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
  note: "A missing bias becomes zeros.",
  ignores: ignoresComputedShape(0),
  lower(op: Lowering) {
    const filter = filterOperand(op, 2, 1);
    const filterSpec = op.graph.spec(filter);
    const [units] = imageExtents(op, filterSpec, "the filter");
    const bias = biasOperand(op, 3, op.inputSpec(2), filterSpec, units);
    op.emit(
      "TRANSPOSE_CONV_2D",
      [
        ...[op.input(2), filter, bias, shapeOperand(op, 0), paddingScheme(op)],
        ...[...positive(op, "strideW", "strideH"), fusedActivation(op), op.bool(false)],
      ],
      [op.output()],
    );
  },
};
