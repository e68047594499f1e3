/**
 * RESIZE_NEAREST_NEIGHBOR for INT16, and for sizes that are computed.
 */
import { resizing } from "../_resize.ts";

export const resizeNearestNeighbor = resizing("RESIZE_NEAREST_NEIGHBOR");
