/**
 * PRELU of 16-bit elements, with factors of 8 or 16 bits.
 */
import { clamp, type TensorData } from "@nnhal/operations";
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
    const by = yield* broadcast(alpha, output.dimensions);
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
