/** The row of MEAN. */
import type { Lowering } from "../lowering.ts";
import type { Row } from "../row.ts";

export const mean: Row = {
  operator: "MEAN",
  version: 3,
  operations: ["MEAN"],
  lower(op: Lowering) {
    const keep = op.int32(op.flag("keepDims") ? 1 : 0);
    op.emitComputed("MEAN", [op.input(0), op.input(1), keep], op.inputSpec(0));
  },
};
