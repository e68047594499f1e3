/**
 * MAX_POOL_2D for INT16.
 */
import { wider } from "../_wider.ts";

export const maxPool2d = wider("MAX_POOL_2D", {
  from: "TENSOR_QUANT8_ASYMM_SIGNED",
  types: ["TENSOR_QUANT16_SYMM"],
});
