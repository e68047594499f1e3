/**
 * Rows of pooling and resizing: operators on images.
 */
import type { OperationTypeName } from "@nnhal/types";
import { listText } from "../../error.ts";
import type { Lowering } from "../lowering.ts";
import { isQuantised } from "../operand-types.ts";
import { fusedActivation, ignoresComputedShape, paddingScheme, positive, type Row } from "../row.ts";

/** The operation of an activation that is not fused. */
const rectifiers: Readonly<Record<string, OperationTypeName>> = { RELU: "RELU", RELU_N1_TO_1: "RELU1", RELU6: "RELU6" };

/**
 * Pools elements as they are stored, as TensorFlow Lite does if the result is quantised in another way than the input; the activation is
 * that of the result's quantisation. Throws a TfliteError without the extension.
 */
function poolStored(op: Lowering, operation: OperationTypeName, window: readonly number[]): void {
  const output = op.outputSpec();
  const activation = op.text("fusedActivationFunction");
  const rectifier = rectifiers[activation];
  op.ensure(rectifier !== undefined || activation === "NONE", () => `no operation is the activation ${activation}`);
  const result = rectifier === undefined ? op.output() : op.graph.temporary(output);
  op.emitStored(operation, [op.input(0), ...window, op.int32(0)], op.inputSpec(0), result);
  if (rectifier !== undefined) op.emit(rectifier, [result], [op.output()]);
}

/** True if the result is quantised, in another way than the input. */
function isRequantised(op: Lowering): boolean {
  const [input, output] = [op.inputSpec(0), op.outputSpec()];
  return isQuantised(output.type) && (input.scale !== output.scale || input.zeroPoint !== output.zeroPoint);
}

/** The padding, strides and extents of the window. */
function windowOf(op: Lowering): number[] {
  return [paddingScheme(op), ...positive(op, "strideW", "strideH", "filterWidth", "filterHeight")];
}

function pooling(operation: "AVERAGE_POOL_2D" | "MAX_POOL_2D" | "L2_POOL_2D", version: number): Row {
  return {
    operator: operation,
    version,
    operations: [operation],
    betterForms: (op) => (isRequantised(op) ? [(draft) => poolStored(draft, operation, windowOf(draft))] : []),
    lower: (op) =>
      op.emitComputed(operation, [...[op.input(0), ...windowOf(op)], fusedActivation(op)], op.inputSpec(0)),
  };
}

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

function resizing(operation: Resizing, version: number): Row {
  const isMoving = operation === "RESIZE_NEAREST_NEIGHBOR";
  return {
    operator: operation,
    version,
    operations: [operation],
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

export const poolingRows: readonly Row[] = [
  pooling("AVERAGE_POOL_2D", 3),
  pooling("MAX_POOL_2D", 3),
  pooling("L2_POOL_2D", 1),
  resizing("RESIZE_BILINEAR", 4),
  resizing("RESIZE_NEAREST_NEIGHBOR", 4),
];
