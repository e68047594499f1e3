/**
 * AVERAGE_POOL_2D for INT16.
 */
import { wider } from "../_wider.ts";

export const averagePool2d = wider("AVERAGE_POOL_2D", {
  from: "TENSOR_QUANT8_ASYMM_SIGNED",
  types: ["TENSOR_QUANT16_SYMM"],
});
