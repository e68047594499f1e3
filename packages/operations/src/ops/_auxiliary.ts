/**
 * The auxiliary input of the bidirectional sequence operations, which serves stacked layers.
 */
import { ensure } from "../fail.ts";
import { sameShape } from "../shape.ts";
import type { TensorInfo } from "../tensor.ts";

/**
 * The backward cell's input, and the auxiliary input of both cells. With auxiliary weights both cells have the auxiliary input
 * (cross-linking); without them it replaces the backward cell's input (parallel linking).
 */
export function linkAuxiliary<T extends TensorInfo>(
  input: T,
  auxiliaryInput: T | undefined,
  fwWeights: TensorInfo | undefined,
  bwWeights: TensorInfo | undefined,
): { readonly bwInput: T; readonly auxiliary: T | undefined } {
  ensure(
    !fwWeights === !bwWeights && (auxiliaryInput !== undefined || fwWeights === undefined),
    () => "auxiliary weights must be given for both directions, and only with an auxiliary input",
  );
  if (auxiliaryInput === undefined) return { bwInput: input, auxiliary: undefined };
  ensure(
    sameShape(auxiliaryInput.dimensions.slice(0, 2), input.dimensions.slice(0, 2)),
    () => "the auxiliary input has other times and batches than the input",
  );
  if (fwWeights !== undefined) return { bwInput: input, auxiliary: auxiliaryInput };
  return { bwInput: auxiliaryInput, auxiliary: undefined };
}
