/** Functions that rows of operators on single elements share. */
import type { OperationTypeName } from "@nnhal/types";
import { bytesOfFloat, bytesOfIntegers } from "../bytes.ts";
import type { Lowering } from "../lowering.ts";
import type { OperandSpec } from "../operand-types.ts";
import type { ImportedOperatorName } from "../operator-tensors.ts";
import type { Row } from "../row.ts";

/** An operator whose tensors are the operation's operands, in the same order. */
export function direct(
  operator: ImportedOperatorName,
  version: number,
  operation: OperationTypeName,
  note?: string,
): Row {
  return {
    operator,
    version,
    operations: [operation],
    ...(note !== undefined && { note }),
    lower(op: Lowering) {
      op.emitComputed(
        operation,
        op.operator.inputs.map((_, place) => op.input(place)),
      );
    },
  };
}

/** Dimensions that the HAL's arithmetic takes. */
const MOST_AXES = 4;

/** True if a result is of integers with more dimensions than the HAL divides, so that DIV would be the extension's, which rounds to 0. */
export function isWideInteger({ type, dimensions }: OperandSpec): boolean {
  return type === "TENSOR_INT32" && dimensions.length > MOST_AXES;
}

/** A constant of one element. */
export function one(op: Lowering, value: number, { type }: OperandSpec): number {
  const spec: OperandSpec = { type, dimensions: [1], scale: 0, zeroPoint: 0 };
  const bytes = type === "TENSOR_INT32" ? bytesOfIntegers([value]) : bytesOfFloat(value, type);
  return op.graph.shared(`${type}[1] ${value}`, spec, bytes);
}
