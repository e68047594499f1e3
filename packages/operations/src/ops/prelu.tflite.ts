/**
 * PRELU of 16-bit elements, with factors of 8 bits. TensorFlow Lite takes factors of 16 bits, and reads their bytes as such of 8 bits; so does this.
 */

import { clamp } from "../fixed-point.ts";
import type { AnyTensor } from "./_elements.tflite.ts";
import { broadcast } from "./_elementwise.tflite.ts";
import { numbersIn } from "./_integers.tflite.ts";
import { scaling16 } from "./_scaled16.tflite.ts";
import { wider } from "./_wider.tflite.ts";
import { prelu as base } from "./prelu.ts";

export const prelu = wider(base, {
  from: "TENSOR_FLOAT32",
  types: [],
  rows: [
    ["1.2", "TENSOR_QUANT16_SYMM", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_SYMM"],
    ["1.2", "TENSOR_QUANT16_SYMM", "TENSOR_QUANT16_SYMM", "TENSOR_QUANT16_SYMM"],
  ],
  reference({ input, alpha }, { output }) {
    const { tensor: from, phases: ofInput } = broadcast(input, output.dimensions);
    const { tensor: by, phases: ofAlpha } = broadcast(inBytes(alpha), output.dimensions);
    // Elements of these types are numbers.
    const [values, factors, results] = [numbersIn(from.data), numbersIn(by.data), numbersIn(output.data)];
    const above = scaling16(input.scale, 1, output.scale);
    const below = scaling16(input.scale, alpha.scale, output.scale);
    const compute = (first: number, end: number) => {
      for (let index = first; index < end; index++) {
        const value = values[index];
        const scaled = value >= 0 ? above(value) : below(value * (factors[index] - alpha.zeroPoint));
        results[index] = clamp(scaled, -0x8000, 0x7fff);
      }
    };
    return [...ofInput, ...ofAlpha, { units: results.length, compute }];
  },
});

/** Factors of 8 bits: those of 16 bits are the first bytes of theirs. */
function inBytes(alpha: AnyTensor): AnyTensor {
  const { type, data, dimensions } = alpha;
  if (type !== "TENSOR_QUANT16_SYMM") return alpha;
  const { buffer, byteOffset, length } = data;
  return { ...alpha, type: "TENSOR_QUANT8_ASYMM_SIGNED", dimensions, data: new Int8Array(buffer, byteOffset, length) };
}
