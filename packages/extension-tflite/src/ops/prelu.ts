/**
 * PRELU of 16-bit elements.
 */
import { combineElements } from "../_elementwise.ts";
import { wider } from "../_wider.ts";

export const prelu = wider("PRELU", {
  from: "TENSOR_FLOAT32",
  types: ["TENSOR_QUANT16_SYMM"],
  reference: ({ input, alpha }, { output }) =>
    combineElements(input, alpha, output, { real: (value, factor) => (value < 0 ? value * factor : value) }),
});
