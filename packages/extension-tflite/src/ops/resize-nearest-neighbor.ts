/**
 * RESIZE_NEAREST_NEIGHBOR for INT16 and INT32, and for sizes that are computed.
 */
import { resizedTypes, resizing } from "../_resize.ts";

export const resizeNearestNeighbor = resizing("RESIZE_NEAREST_NEIGHBOR", [...resizedTypes, "TENSOR_INT32"]);
