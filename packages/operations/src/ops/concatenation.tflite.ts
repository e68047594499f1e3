/**
 * CONCATENATION for the types and ranks of .tflite. Only 8-bit elements are requantised, as in the HAL's operation.
 */

import { tfliteTypes } from "../tflite-types.ts";
import { wider } from "./_wider.tflite.ts";
import { concatenation as base } from "./concatenation.ts";

export const concatenation = wider(base, {
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
