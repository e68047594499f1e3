/**
 * RESIZE_NEAREST_NEIGHBOR for elements of 16 and 32 bits and BOOL, and for sizes that are computed.
 */
import { defineResize, resizedTypes } from "../_resize.ts";
import { tfliteTypes } from "../types.ts";

export const resizeNearestNeighbor = defineResize("RESIZE_NEAREST_NEIGHBOR", [
  ...resizedTypes,
  "TENSOR_FLOAT16",
  "TENSOR_QUANT16_ASYMM",
  "TENSOR_INT32",
  tfliteTypes.TENSOR_UINT32,
  "TENSOR_BOOL8",
]);
