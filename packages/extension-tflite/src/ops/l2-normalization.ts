/**
 * L2_NORMALIZATION of more than 4 axes.
 */
import { anyRank } from "../_elementwise.ts";
import { wider } from "../_wider.ts";

export const l2Normalization = wider("L2_NORMALIZATION", {
  from: "TENSOR_FLOAT32",
  types: ["TENSOR_FLOAT32", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED"],
  ranks: { input: anyRank },
});
