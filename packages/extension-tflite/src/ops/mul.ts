/**
 * MUL of 16-bit, 64-bit and unsigned integers and of complex numbers, of more than 4 axes, with an activation of integers, and with any
 * scale of a quantised result, which may be 8-bit if the operands are 16-bit.
 */
import type { Phase } from "@nnhal/operations";
import { ensure } from "@nnhal/operations/authoring";
import { FusedActivationFunc } from "@nnhal/types";
import type { AnyOutput, AnyTensor } from "../_elements.ts";
import { broadcast } from "../_elementwise.ts";
import { numbersIn } from "../_integers.ts";
import { arithmeticTypes } from "../_types.ts";
import { tfliteTypes } from "../types.ts";
import { arithmetic } from "./_arithmetic.ts";

const { TENSOR_COMPLEX64, TENSOR_UINT32 } = tfliteTypes;

export const mul = arithmetic("MUL", {
  types: [...arithmeticTypes, "TENSOR_FLOAT16", TENSOR_UINT32, TENSOR_COMPLEX64],
  rows: [
    ["1.2", "TENSOR_QUANT16_SYMM", "TENSOR_QUANT16_SYMM", "TENSOR_QUANT8_ASYMM"],
    ["1.2", "TENSOR_QUANT16_SYMM", "TENSOR_QUANT16_SYMM", "TENSOR_QUANT8_ASYMM_SIGNED"],
  ],
  functions: () => ({
    real: (left, right) => left * right,
    integer: Math.imul,
    long: (left, right) => left * right,
  }),
  complex: multiplyComplex,
});

/** (a + bi)(c + di). A complex number is two numbers of an array, as if the tensor had one more axis of extent 2. */
function multiplyComplex(left: AnyTensor, right: AnyTensor, output: AnyOutput, activation: number): readonly Phase[] {
  ensure(
    activation === FusedActivationFunc.NONE,
    () => `activation ${activation} is given where complex numbers allow only NONE 0`,
  );
  const shape = [...output.dimensions, 2];
  const pairs = (tensor: AnyTensor) =>
    broadcast({ ...tensor, type: "TENSOR_FLOAT32", dimensions: [...tensor.dimensions, 2] }, shape);
  const [a, b] = [pairs(left), pairs(right)];
  const [lefts, rights] = [numbersIn(a.tensor.data), numbersIn(b.tensor.data)];
  const products = numbersIn(output.data);
  const compute = (first: number, end: number) => {
    for (let real = 2 * first; real < 2 * end; real += 2) {
      const imaginary = real + 1;
      products[real] = lefts[real] * rights[real] - lefts[imaginary] * rights[imaginary];
      products[imaginary] = lefts[real] * rights[imaginary] + lefts[imaginary] * rights[real];
    }
  };
  return [...a.phases, ...b.phases, { units: products.length / 2, compute }];
}
