import { ensure } from "@nnhal/operations/authoring";
import { combineElements } from "../_elementwise.ts";
import { numbersIn } from "../_integers.ts";
import { wider } from "../_wider.ts";

export const pow = wider("POW", {
  from: "TENSOR_FLOAT32",
  types: ["TENSOR_INT32"],
  reference({ base, exponent }, { output }) {
    const exponents = numbersIn(exponent.data);
    for (let index = 0; index < exponents.length; index++) {
      ensure(exponents[index] >= 0, () => `element ${index} of the exponent is ${exponents[index]}, less than 0`);
    }
    return combineElements(base, exponent, output, { integer: power });
  },
});

/** By squaring, with products that wrap at 32 bits. */
function power(base: number, exponent: number): number {
  let result = 1;
  let square = base;
  for (let rest = exponent; rest > 0; rest >>= 1) {
    if (rest & 1) result = Math.imul(result, square);
    square = Math.imul(square, square);
  }
  return result;
}
