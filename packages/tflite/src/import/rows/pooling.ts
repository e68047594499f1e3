/**
 * Rows of pooling.
 */
import type { OperationTypeName } from "@nnhal/types";
import type { Lowering } from "../lowering.ts";
import { fusedActivation, paddingScheme, positive, type Row } from "../row.ts";
import { isRequantised } from "./_requantised.ts";

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

/** The padding, strides and extents of the window. */
function windowOf(op: Lowering): number[] {
  return [paddingScheme(op), ...positive(op, "strideW", "strideH", "filterWidth", "filterHeight")];
}

function makePoolRow(operation: "AVERAGE_POOL_2D" | "MAX_POOL_2D" | "L2_POOL_2D", version: number): Row {
  return {
    operator: operation,
    version,
    operations: [operation],
    betterForms: (op) => (isRequantised(op) ? [(draft) => poolStored(draft, operation, windowOf(draft))] : []),
    lower: (op) =>
      op.emitComputed(operation, [...[op.input(0), ...windowOf(op)], fusedActivation(op)], op.inputSpec(0)),
  };
}

export const poolingRows: readonly Row[] = [
  makePoolRow("AVERAGE_POOL_2D", 3),
  makePoolRow("MAX_POOL_2D", 3),
  makePoolRow("L2_POOL_2D", 1),
];
