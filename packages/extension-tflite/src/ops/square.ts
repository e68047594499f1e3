/**
 * SQUARE: each element times itself.
 */
import { unary } from "./_unary.ts";

export const square = unary("SQUARE", 1092, "x².", ["TENSOR_FLOAT32"], { real: (value) => value * value });
