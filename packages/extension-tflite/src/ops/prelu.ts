/**
 * PRELU of 16-bit elements with 8-bit factors.
 */
import { combineElements } from "../_elementwise.ts";
import { wider } from "../_wider.ts";

export const prelu = wider("PRELU", {
  from: "TENSOR_FLOAT32",
  types: [],
  rows: [["1.2", "TENSOR_QUANT16_SYMM", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_SYMM"]],
  reference: ({ input, alpha }, { output }) =>
    combineElements(input, alpha, output, { real: (value, factor) => (value < 0 ? value * factor : value) }),
});
