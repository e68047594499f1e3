/**
 * CONCATENATION for the types and ranks of .tflite. Only 8-bit elements are requantised, as in the HAL's operation.
 */

import { wider } from "../_wider.ts";
import { tfliteTypes } from "../types.ts";

export const concatenation = wider("CONCATENATION", {
  from: "TENSOR_FLOAT32",
  types: [
    "TENSOR_FLOAT32",
    "TENSOR_FLOAT16",
    "TENSOR_INT32",
    tfliteTypes.TENSOR_INT64,
    tfliteTypes.TENSOR_UINT32,
    "TENSOR_QUANT8_ASYMM",
    "TENSOR_QUANT8_ASYMM_SIGNED",
    "TENSOR_QUANT16_SYMM",
    "TENSOR_BOOL8",
  ],
  ranks: { inputs: [1, Number.POSITIVE_INFINITY] },
});
