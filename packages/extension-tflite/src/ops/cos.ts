/**
 * COS: the cosine of each element.
 */
import { unary } from "./_unary.ts";

export const cos = unary("COS", 1108, "The cosine of x.", ["TENSOR_FLOAT32", "TENSOR_FLOAT16"], { real: Math.cos });
