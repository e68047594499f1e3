/** Rows of resizing. */
import { listText } from "../../error.ts";
import type { Lowering } from "../lowering.ts";
import { ignoresComputedShape, type Row } from "../row.ts";
import { isRequantised } from "./_requantised.ts";

/** True if the size of the result is computed, and not stored either. */
function hasOpenSize(op: Lowering): boolean {
  return op.constantIntegers(1) === undefined && op.outputSpec().dimensions.slice(1, 3).includes(0);
}

/** The size of the result: the constant input, or if that is computed the result's own shape. */
function targetSize(op: Lowering): { readonly height: number; readonly width: number } {
  const size = op.constantIntegers(1) ?? op.outputSpec().dimensions.slice(1, 3);
  const [height = 0, width = 0, ...more] = size;
  op.ensure(
    height >= 1 && width >= 1 && more.length === 0,
    () => `the HAL needs the size as two constants of at least 1, it is ${listText(size)}`,
  );
  return { height, width };
}

type Resizing = "RESIZE_BILINEAR" | "RESIZE_NEAREST_NEIGHBOR";

/** The operands of a resize to a size that is known. */
function resizeOperands(op: Lowering, operation: Resizing): number[] {
  const [align, half] = [op.flag("alignCorners"), op.flag("halfPixelCenters")];
  const { height, width } = targetSize(op);
  op.ensure(!(align && half), () => "options alignCorners and halfPixelCenters exclude each other");
  const options = align || half ? [false, align, half] : operation === "RESIZE_NEAREST_NEIGHBOR" ? [false] : [];
  return [op.input(0), op.int32(width), op.int32(height), ...options.map(op.bool)];
}

/** Emits the extension's operation, which takes a size that is computed. False if it does not accept the operands. */
function resizeToComputed(op: Lowering, operation: Resizing): boolean {
  const options = [false, op.flag("alignCorners"), op.flag("halfPixelCenters")];
  return op.emitExtended(operation, [op.input(0), op.input(1), ...options.map(op.bool)], [op.output()]);
}

function makeResizeRow(operation: Resizing, version: number): Row {
  const isMoving = operation === "RESIZE_NEAREST_NEIGHBOR";
  return {
    operator: operation,
    version,
    operations: [operation],
    note: "A size that is computed: of the extension, unless the result's shape is known.",
    ignores: ignoresComputedShape(1),
    betterForms: (op) =>
      isRequantised(op) && !isMoving && !hasOpenSize(op)
        ? [(draft) => draft.emitStored(operation, resizeOperands(draft, operation), draft.inputSpec(0))]
        : [],
    lower(op: Lowering) {
      if (hasOpenSize(op) && resizeToComputed(op, operation)) return;
      const inputs = resizeOperands(op, operation);
      if (isMoving) op.emitMoved(operation, inputs, op.inputSpec(0));
      else op.emitComputed(operation, inputs, op.inputSpec(0));
    },
  };
}

export const resizingRows: readonly Row[] = [
  makeResizeRow("RESIZE_BILINEAR", 4),
  makeResizeRow("RESIZE_NEAREST_NEIGHBOR", 4),
];
