/** Shared parts of GATHER and GATHER_ND. */
import { OperationError } from "../fail.ts";
import { sameShape } from "../shape.ts";
import type { TensorInfo } from "../tensor.ts";
import { indexTypes } from "./_integers.tflite.ts";

/** Types of indexes. INT16 ones are not quantised. */
export const gatherIndexTypes = [...indexTypes, "TENSOR_QUANT16_SYMM"] as const;

/**
 * The shape of a result that has the axes of `operand`. A scalar of .tflite is one element in one dimension here; if the model declares the
 * result with the rank that a scalar leads to, that is `without` the axis.
 */
export function withoutScalar(
  shape: readonly number[],
  operand: TensorInfo,
  without: readonly number[],
  declared: TensorInfo,
): readonly number[] {
  const mayBeScalar = sameShape(operand.dimensions, [1]) || operand.dimensions.length === 0;
  if (mayBeScalar && without.length > 0 && declared.dimensions.length === without.length) return without;
  return shape;
}

/** The error for an index outside its axis; `position`: the index's own place. */
export function outside(index: number, position: number, extent: number): OperationError {
  return new OperationError(`index ${index} at ${position} is outside [0, ${extent})`);
}
