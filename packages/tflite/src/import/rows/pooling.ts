/**
 * Rows of pooling and resizing: operators on images.
 */
import { listText } from "../../error.ts";
import type { Lowering } from "../lowering.ts";
import { fusedActivation, ignoresComputedShape, paddingScheme, positive, type Row } from "../row.ts";

function pooling(operation: "AVERAGE_POOL_2D" | "MAX_POOL_2D" | "L2_POOL_2D", version: number): Row {
  return {
    operator: operation,
    version,
    operations: [operation],
    lower(op: Lowering) {
      const window = positive(op, "strideW", "strideH", "filterWidth", "filterHeight");
      op.emitComputed(operation, [op.input(0), paddingScheme(op), ...window, fusedActivation(op)], op.inputSpec(0));
    },
  };
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

function resizing(operation: "RESIZE_BILINEAR" | "RESIZE_NEAREST_NEIGHBOR", version: number): Row {
  const layout = operation === "RESIZE_NEAREST_NEIGHBOR";
  return {
    operator: operation,
    version,
    operations: [operation],
    note: "The size must be constant, or the result's shape known.",
    ignores: ignoresComputedShape(1),
    lower(op: Lowering) {
      const { height, width } = targetSize(op);
      const [align, half] = [op.flag("alignCorners"), op.flag("halfPixelCenters")];
      op.ensure(!(align && half), () => "options alignCorners and halfPixelCenters exclude each other");
      const options = align || half ? [false, align, half] : layout ? [false] : [];
      const inputs = [op.input(0), op.int32(width), op.int32(height), ...options.map(op.bool)];
      if (layout) op.emitMoved(operation, inputs, op.inputSpec(0));
      else op.emitComputed(operation, inputs, op.inputSpec(0));
    },
  };
}

export const poolingRows: readonly Row[] = [
  pooling("AVERAGE_POOL_2D", 3),
  pooling("MAX_POOL_2D", 3),
  pooling("L2_POOL_2D", 1),
  resizing("RESIZE_BILINEAR", 4),
  resizing("RESIZE_NEAREST_NEIGHBOR", 4),
];
