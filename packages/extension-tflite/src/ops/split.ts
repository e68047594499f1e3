/**
 * SPLIT for the types of .tflite; the axis may be computed.
 */
import { splitTypes } from "../_types.ts";
import { wider } from "../_wider.ts";

export const split = wider("SPLIT", {
  from: "TENSOR_FLOAT32",
  types: splitTypes,
  integers: { names: ["axis"], types: ["TENSOR_INT32"] },
});
