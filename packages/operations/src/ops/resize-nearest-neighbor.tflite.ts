/**
 * RESIZE_NEAREST_NEIGHBOR for elements of 16 and 32 bits and BOOL, and for sizes that are computed.
 */

import { tfliteTypes } from "../tflite-types.ts";
import { defineResize, resizedTypes } from "./_resize.tflite.ts";
import { resizeNearestNeighbor as base } from "./resize-nearest-neighbor.ts";

export const resizeNearestNeighbor = defineResize(base, [
  ...resizedTypes,
  "TENSOR_FLOAT16",
  "TENSOR_QUANT16_ASYMM",
  "TENSOR_INT32",
  tfliteTypes.TENSOR_UINT32,
  "TENSOR_BOOL8",
]);
