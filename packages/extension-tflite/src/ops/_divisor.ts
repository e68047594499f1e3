/**
 * The rule of integer divisions.
 */
import type { TensorData } from "@nnhal/operations";
import { ensure } from "@nnhal/operations/authoring";
import type { AnyTensor } from "../_elements.ts";
import { isLong } from "../_wider.ts";

/** Throws an OperationError if a divisor is 0. `zero`: the element that represents 0. Default: 0. */
export function ensureNoZero({ type, data }: AnyTensor, zero = 0): void {
  const index = isLong(type) ? (data as BigInt64Array).indexOf(BigInt(zero)) : (data as TensorData).indexOf(zero);
  ensure(index < 0, () => `element ${index} of the divisor is 0`);
}
