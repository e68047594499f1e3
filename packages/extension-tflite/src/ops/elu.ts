/**
 * ELU of quantised elements.
 */
import { mapElements } from "../_elementwise.ts";
import { wider } from "../_wider.ts";

export const elu = wider("ELU", {
  from: "TENSOR_FLOAT32",
  types: ["TENSOR_QUANT8_ASYMM_SIGNED"],
  reference: ({ input, alpha }, { output }) =>
    mapElements(input, output, { real: (value) => (value < 0 ? alpha * Math.expm1(value) : value) }),
});
