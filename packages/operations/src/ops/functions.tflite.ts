/**
 * Functions of each element: those of the HAL for more types, and those that the HAL lacks.
 */
import { ensure } from "../fail.ts";
import { integerRange } from "../tensor.ts";
import { tfliteTypes } from "../tflite-types.ts";
import type { AnyTensor } from "./_elements.tflite.ts";
import { mapElements } from "./_elementwise.tflite.ts";
import { mapFunction } from "./_function.tflite.ts";
import { numbersIn } from "./_integers.tflite.ts";
import { isScaled16, mapScaled16, scaling16 } from "./_scaled16.tflite.ts";
import { logistic16, squash, tanh16 } from "./_squashing16.tflite.ts";
import { unary, widerUnary } from "./_unary.tflite.ts";
import { abs } from "./abs.ts";
import { exp } from "./exp.ts";
import { floor } from "./floor.ts";
import { log } from "./log.ts";
import { logistic } from "./logistic.ts";
import { neg } from "./neg.ts";
import { rsqrt } from "./rsqrt.ts";
import { sqrt } from "./sqrt.ts";
import { tanh } from "./tanh.ts";

/** Throws an OperationError if an element stands for a negative number. */
function ensureNotNegative({ data, zeroPoint }: AnyTensor): void {
  const elements = numbersIn(data);
  for (let index = 0; index < elements.length; index++) {
    ensure(
      elements[index] >= zeroPoint,
      () => `element ${index} of the input is ${elements[index]}, less than the zero point ${zeroPoint}`,
    );
  }
}

/** The operators. */
export const functions = [
  // ABS of quantised elements and 16-bit integers.
  widerUnary(abs, ["TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_SYMM"], (input, output) => {
    if (!isScaled16(input, output)) return mapElements(input, output, { real: Math.abs, integer: Math.abs });
    const scaled = scaling16(input.scale, 1, output.scale);
    return mapScaled16(input, output, (element) => scaled(Math.abs(element)));
  }),
  unary("CEIL", 1104, "The least integer that is at least x.", ["TENSOR_FLOAT32"], {
    real: Math.ceil,
  }),
  unary("COS", 1108, "The cosine of x.", ["TENSOR_FLOAT32", "TENSOR_FLOAT16"], { real: Math.cos }),
  // EXP of quantised elements.
  widerUnary(exp, ["TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_SYMM"], (input, output) =>
    mapFunction(input, output, Math.exp),
  ),
  // FLOOR of more than 4 axes.
  widerUnary(floor, ["TENSOR_FLOAT32", "TENSOR_FLOAT16"], (input, output) =>
    mapElements(input, output, { real: Math.floor }),
  ),
  // LOG of quantised elements. The result of a number that has no logarithm is the least element.
  widerUnary(log, ["TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_SYMM"], (input, output) => {
    const least = (integerRange(output.type)[0] - output.zeroPoint) * output.scale;
    return mapFunction(input, output, (value) => (value <= 0 ? least : Math.log(value)));
  }),
  // LOGISTIC of 16-bit elements, and of more than 4 axes. A quantised result has scale 2^-8 or, of 16 bits, 2^-15.
  widerUnary(
    logistic,
    ["TENSOR_FLOAT32", "TENSOR_FLOAT16", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_SYMM"],
    (input, output) =>
      output.type === "TENSOR_QUANT16_SYMM"
        ? squash(input, output, logistic16)
        : mapElements(input, output, { real: (value) => 1 / (1 + Math.exp(-value)) }),
  ),
  // NEG of 8-bit, 16-bit and 64-bit integers. Quantisation is left out of account, as the operator does; the least integer stays as it is.
  widerUnary(neg, ["TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_SYMM", tfliteTypes.TENSOR_INT64], (input, output) =>
    mapElements(input, output, { integer: (value) => -value, long: (value) => -value }),
  ),
  unary("ROUND", 1116, "The nearest integer, halves to the even one.", ["TENSOR_FLOAT32", "TENSOR_FLOAT16"], {
    real: roundToEven,
  }),
  // RSQRT of quantised elements. The result of 0 is the greatest element, and negative numbers are refused.
  widerUnary(rsqrt, ["TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_SYMM"], (input, output) => {
    ensureNotNegative(input);
    const greatest = (integerRange(output.type)[1] - output.zeroPoint) * output.scale;
    return mapFunction(input, output, (value) => (value <= 0 ? greatest : 1 / Math.sqrt(value)));
  }),
  // SIGN: 1, -1 or 0. NaN stays.
  unary(
    "SIGN",
    1158,
    "1 where x > 0, -1 where x < 0, else x.",
    ["TENSOR_FLOAT32", tfliteTypes.TENSOR_FLOAT64, "TENSOR_INT32"],
    { real: signOf, integer: signOf },
  ),
  // SQRT of quantised elements. Results are truncated toward 0, as the operator does, and negative numbers are refused.
  widerUnary(sqrt, ["TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_SYMM"], (input, output) => {
    ensureNotNegative(input);
    // A number of whole steps of the output, which its rounding keeps. The quotient is a float32 in the operator.
    const whole = (value: number) => Math.trunc(Math.fround(Math.fround(Math.sqrt(Math.fround(value))) / output.scale));
    return mapElements(input, output, { real: (value) => whole(value) * output.scale });
  }),
  unary("SQUARE", 1092, "x².", ["TENSOR_FLOAT32"], { real: (value) => value * value }),
  // TANH of 16-bit elements, of more than 4 axes, and with any quantisation of an 8-bit result. A 16-bit result has scale 2^-15.
  widerUnary(
    tanh,
    ["TENSOR_FLOAT32", "TENSOR_FLOAT16", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_SYMM"],
    (input, output) =>
      output.type === "TENSOR_QUANT16_SYMM"
        ? squash(input, output, tanh16)
        : mapElements(input, output, { real: Math.tanh }),
  ),
] as const;

/** Rounds a number of any size; `roundHalfEven` of fixed-point.ts is for those below 2^51. */
function roundToEven(value: number): number {
  const below = Math.floor(value);
  const part = value - below;
  return part < 0.5 || (part === 0.5 && below % 2 === 0) ? below : Math.ceil(value);
}

/** `Math.sign`, except that -0 becomes 0. */
function signOf(value: number): number {
  return value === 0 ? 0 : Math.sign(value);
}
