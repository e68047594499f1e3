/**
 * PRELU of 16-bit elements, with factors of 8 bits. TensorFlow Lite takes factors of 16 bits, and reads their bytes as such of 8 bits; so does this.
 */
import { clamp, type TensorData } from "@nnhal/operations";
import type { AnyTensor } from "../_elements.ts";
import { broadcast, inParts } from "../_elementwise.ts";
import { scaling16 } from "../_scaled16.ts";
import { wider } from "../_wider.ts";

export const prelu = wider("PRELU", {
  from: "TENSOR_FLOAT32",
  types: [],
  rows: [
    ["1.2", "TENSOR_QUANT16_SYMM", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_SYMM"],
    ["1.2", "TENSOR_QUANT16_SYMM", "TENSOR_QUANT16_SYMM", "TENSOR_QUANT16_SYMM"],
  ],
  *reference({ input, alpha }, { output }) {
    const from = yield* broadcast(input, output.dimensions);
    const by = yield* broadcast(inBytes(alpha), output.dimensions);
    // Elements of these types are numbers.
    const [values, factors, results] = [from.data as TensorData, by.data as TensorData, output.data as TensorData];
    const above = scaling16(input.scale, 1, output.scale);
    const below = scaling16(input.scale, alpha.scale, output.scale);
    yield* inParts(results.length, (first, end) => {
      for (let index = first; index < end; index++) {
        const value = values[index];
        const scaled = value >= 0 ? above(value) : below(value * (factors[index] - alpha.zeroPoint));
        results[index] = clamp(scaled, -0x8000, 0x7fff);
      }
    });
  },
});

/** Factors of 8 bits: those of 16 bits are the first bytes of theirs. */
function inBytes(alpha: AnyTensor): AnyTensor {
  const { type, data, dimensions } = alpha;
  if (type !== "TENSOR_QUANT16_SYMM") return alpha;
  const { buffer, byteOffset, length } = data;
  return { ...alpha, type: "TENSOR_QUANT8_ASYMM_SIGNED", dimensions, data: new Int8Array(buffer, byteOffset, length) };
}
