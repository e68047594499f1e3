/**
 * SPACE_TO_DEPTH for the types of .tflite.
 */
import { depthTypes } from "../_types.ts";
import { wider } from "../_wider.ts";

export const spaceToDepth = wider("SPACE_TO_DEPTH", { from: "TENSOR_FLOAT32", types: depthTypes });
