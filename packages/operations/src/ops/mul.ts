/**
 * MUL: the product of two tensors. Quantised: the output's scale must be greater than the product of the inputs' (HAL
 * 1.0 – 1.3, MUL).
 */
import { clamp, roundHalfEven } from "../fixed-point.ts";
import { arithmetic } from "./_arithmetic.ts";

export const mul = arithmetic({
  name: "MUL",
  summary: "The product of two tensors that broadcast.",
  types: [
    ["1.0", "TENSOR_FLOAT32"],
    ["1.2", "TENSOR_FLOAT16"],
    ["1.0", "TENSOR_QUANT8_ASYMM"],
    ["1.3", "TENSOR_QUANT8_ASYMM_SIGNED"],
    ["1.3", "TENSOR_INT32"],
  ],
  scaleRule(left, right, output) {
    const product = Math.fround(left.scale * right.scale);
    if (output.scale > product) return undefined;
    return `the output's scale: expected more than the product of the inputs' scales, ${product}, got ${output.scale}`;
  },
  float(left, right, product) {
    for (let index = 0; index < product.length; index++) product[index] = left[index] * right[index];
  },
  integer(left, right, product) {
    for (let index = 0; index < product.length; index++) product[index] = Math.imul(left[index], right[index]);
  },
  quantised(left, right, output, [least, greatest]) {
    // One rounding, as in convolutions: docs/decisions/0020-one-rounding-in-requantisation.md.
    const ratio = Math.fround(Math.fround(left.scale * right.scale) / output.scale);
    const { data: leftData, zeroPoint: leftZero } = left;
    const { data: rightData, zeroPoint: rightZero } = right;
    const { data, zeroPoint } = output;
    for (let index = 0; index < data.length; index++) {
      const product = (leftData[index] - leftZero) * (rightData[index] - rightZero);
      data[index] = clamp(roundHalfEven(Math.fround(product * ratio)) + zeroPoint, least, greatest);
    }
  },
});
