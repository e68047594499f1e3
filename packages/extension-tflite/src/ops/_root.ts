import { ensure } from "@nnhal/operations/authoring";
import type { AnyTensor } from "../_elements.ts";
import { numbersIn } from "../_integers.ts";

/** Throws an OperationError if an element stands for a negative number. */
export function ensureNotNegative({ data, zeroPoint }: AnyTensor): void {
  const elements = numbersIn(data);
  for (let index = 0; index < elements.length; index++) {
    ensure(
      elements[index] >= zeroPoint,
      () => `element ${index} of the input is ${elements[index]}, less than the zero point ${zeroPoint}`,
    );
  }
}
