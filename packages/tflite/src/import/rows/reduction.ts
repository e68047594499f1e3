/**
 * Rows of reductions without MEAN, which many models have, and of searches along an axis.
 */
import type { OperationTypeName } from "@nnhal/types";
import type { Lowering } from "../lowering.ts";
import type { ImportedOperatorName } from "../operator-tensors.ts";
import { inFloatNote, type Row } from "../row.ts";

/** The sum or product; the HAL has them for floats only. */
function total(operator: "SUM" | "REDUCE_PROD", version: number, operation: OperationTypeName): Row {
  return {
    operator,
    version,
    operations: [operation],
    note: inFloatNote,
    lower: (op) => op.emitComputed(operation, [op.input(0), op.input(1), op.bool(op.flag("keepDims"))]),
  };
}

/** A reduction whose result is one of the elements, or a truth value. */
function choice(operator: ImportedOperatorName, version: number, operation: OperationTypeName): Row {
  return {
    operator,
    version,
    operations: [operation],
    lower: (op) => op.emitMoved(operation, [op.input(0), op.input(1), op.bool(op.flag("keepDims"))], op.inputSpec(0)),
  };
}

function search(operator: "ARG_MAX" | "ARG_MIN", operation: "ARGMAX" | "ARGMIN"): Row {
  return {
    operator,
    version: 3,
    operations: [operation],
    note: "An axis that is computed: of the extension.",
    narrowed: "always",
    lower(op: Lowering) {
      const isComputed = op.constantIntegers(1) === undefined;
      if (isComputed && op.emitExtended(operation, [op.input(0), op.input(1)], [op.output()])) return;
      const axis = op.axis(op.integer(1, "the axis"), op.inputSpec(0).dimensions.length);
      op.emit(operation, [op.input(0), op.int32(axis)], [op.output()]);
    },
  };
}

const topK: Row = {
  operator: "TOPK_V2",
  version: 3,
  operations: ["TOPK_V2"],
  prefersExtension: () => true,
  note: "Of the extension, since among equal values the HAL returns the greater index first, .tflite the smaller. Without it k must be a constant.",
  lower(op: Lowering) {
    const [input, values] = [op.inputSpec(0), op.outputSpec(0)];
    op.ensure(
      input.scale === values.scale && input.zeroPoint === values.zeroPoint,
      () => "the values have another quantisation than the input",
    );
    op.emit("TOPK_V2", [op.input(0), op.int32(op.integer(1, "k"))], [op.output(0), op.output(1)]);
  },
};

export const reductionRows: readonly Row[] = [
  total("SUM", 2, "REDUCE_SUM"),
  total("REDUCE_PROD", 2, "REDUCE_PROD"),
  choice("REDUCE_MAX", 3, "REDUCE_MAX"),
  choice("REDUCE_MIN", 3, "REDUCE_MIN"),
  choice("REDUCE_ANY", 1, "REDUCE_ANY"),
  choice("REDUCE_ALL", 1, "REDUCE_ALL"),
  search("ARG_MAX", "ARGMAX"),
  search("ARG_MIN", "ARGMIN"),
  topK,
];
