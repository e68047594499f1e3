/**
 * FAKE_QUANT: the numbers that remain if elements are quantised and dequantised.
 */

import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { clamp, roundHalfAway } from "../fixed-point.ts";
import { bool, float32, int32, tensor } from "../params.ts";
import { mapElements } from "./_elementwise.tflite.ts";

export const fakeQuant = defineOperation({
  name: "FAKE_QUANT",
  code: 1080,
  summary: "The nearest of the numbers that numBits bits can hold between min and max.",
  params: [tensor("input"), float32("min"), float32("max"), int32("numBits"), bool("narrowRange")],
  outputs: [tensor("output")],
  types: [["1.2", "TENSOR_FLOAT32", "TENSOR_FLOAT32"]],
  infer({ input, min, max, numBits, narrowRange }) {
    ensure(!narrowRange, () => "narrowRange is true, which .tflite allows for weights only");
    ensure(numBits >= 2 && numBits <= 16, () => `numBits is ${numBits} where 2 to 16 are possible`);
    ensure(min < max, () => `min: expected a number less than max, ${max}, got ${min}`);
    return { output: { dimensions: input.dimensions } };
  },
  reference({ input, min, max, numBits }, { output }) {
    const { scale, least, greatest } = nudge(min, max, 2 ** numBits - 1);
    const inverse = Math.fround(1 / scale);
    return mapElements(input, output, {
      real(value) {
        const units = Math.fround(Math.fround(clamp(value, least, greatest) - least) * inverse);
        return Math.fround(roundHalfAway(units) * scale) + least;
      },
    });
  },
});

/** The bounds moved so that 0 is one of the numbers, in float32 as the operator computes them. */
function nudge(min: number, max: number, last: number) {
  const scale = Math.fround(Math.fround(max - min) / last);
  const zeroPoint = clamp(roundHalfAway(Math.fround(-min / scale)), 0, last);
  return { scale, least: Math.fround(-zeroPoint * scale), greatest: Math.fround((last - zeroPoint) * scale) };
}
