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
  float(left, right, product, first, end) {
    for (let index = first; index < end; index++) product[index] = left[index] * right[index];
  },
  integer(left, right, product, first, end) {
    for (let index = first; index < end; index++) product[index] = Math.imul(left[index], right[index]);
  },
  pairQuantised(left, right, output, [least, greatest]) {
    // One rounding, as in convolutions: docs/decisions/0020-one-rounding-in-requantisation.md.
    const ratio = Math.fround(Math.fround(left.scale * right.scale) / output.scale);
    const [leftZero, rightZero, zeroPoint] = [left.zeroPoint, right.zeroPoint, output.zeroPoint];
    return (leftData, rightData, result, first, end) => {
      for (let index = first; index < end; index++) {
        const product = (leftData[index] - leftZero) * (rightData[index] - rightZero);
        result[index] = clamp(roundHalfEven(Math.fround(product * ratio)) + zeroPoint, least, greatest);
      }
    };
  },
});
