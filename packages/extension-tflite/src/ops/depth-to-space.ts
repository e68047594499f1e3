/**
 * DEPTH_TO_SPACE for the types of .tflite.
 */
import { depthTypes } from "../_types.ts";
import { wider } from "../_wider.ts";

export const depthToSpace = wider("DEPTH_TO_SPACE", { from: "TENSOR_FLOAT32", types: depthTypes });
