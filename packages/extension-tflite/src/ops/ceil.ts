/**
 * CEIL: the least integer that is at least each element.
 */
import { unary } from "./_unary.ts";

export const ceil = unary("CEIL", 1104, "The least integer that is at least x.", ["TENSOR_FLOAT32"], {
  real: Math.ceil,
});
