/**
 * Rows of pooling and resizing: operators on images.
 */
import type { OperationTypeName } from "@nnhal/types";
import { listText } from "../../error.ts";
import type { Lowering } from "../lowering.ts";
import { isQuantised, type OperandSpec } from "../operand-types.ts";
import { attempted, fusedActivation, ignoresComputedShape, paddingScheme, positive, type Row } from "../row.ts";

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

function isSameQuantisation(left: OperandSpec, right: OperandSpec): boolean {
  return left.scale === right.scale && left.zeroPoint === right.zeroPoint;
}

function pooling(operation: "AVERAGE_POOL_2D" | "MAX_POOL_2D" | "L2_POOL_2D", version: number): Row {
  return {
    operator: operation,
    version,
    operations: [operation],
    lower(op: Lowering) {
      const window = [paddingScheme(op), ...positive(op, "strideW", "strideH", "filterWidth", "filterHeight")];
      const [input, output] = [op.inputSpec(0), op.outputSpec()];
      const isStored = isQuantised(output.type) && !isSameQuantisation(input, output);
      if (isStored && attempted(op, () => poolStored(op, operation, window))) return;
      op.emitComputed(operation, [op.input(0), ...window, fusedActivation(op)], input);
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
    ignores: ignoresComputedShape(1),
    lower(op: Lowering) {
      const [align, half] = [op.flag("alignCorners"), op.flag("halfPixelCenters")];
      const isOpen = op.constantIntegers(1) === undefined && op.outputSpec().dimensions.slice(1, 3).includes(0);
      const computed = () => [op.input(0), op.input(1), op.bool(false), op.bool(align), op.bool(half)];
      if (isOpen && op.emitExtended(operation, computed(), [op.output()])) return;
      const { height, width } = targetSize(op);
      op.ensure(!(align && half), () => "options alignCorners and halfPixelCenters exclude each other");
      const options = align || half ? [false, align, half] : layout ? [false] : [];
      const inputs = [op.input(0), op.int32(width), op.int32(height), ...options.map(op.bool)];
      const [input, output] = [op.inputSpec(0), op.outputSpec()];
      const isStored = isQuantised(output.type) && !isSameQuantisation(input, output);
      if (layout) op.emitMoved(operation, inputs, input);
      else if (!isStored || !attempted(op, () => op.emitStored(operation, inputs, input))) {
        op.emitComputed(operation, inputs, input);
      }
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
