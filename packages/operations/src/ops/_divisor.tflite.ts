import { ensure } from "../fail.ts";
import type { AnyTensor } from "./_elements.tflite.ts";
import { longsIn, numbersIn } from "./_integers.tflite.ts";
import { isLong } from "./_wider.tflite.ts";

/** Throws an OperationError if a divisor is 0. `zero`: the element that represents 0. Default: 0. */
export function ensureNoZero({ type, data }: AnyTensor, zero = 0): void {
  const index = isLong(type) ? longsIn(data).indexOf(BigInt(zero)) : numbersIn(data).indexOf(zero);
  ensure(index < 0, () => `element ${index} of the divisor is 0`);
}
