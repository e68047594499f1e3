/**
 * FLOOR of more than 4 axes.
 */
import { mapElements } from "../_elementwise.ts";
import { widerUnary } from "./_unary.ts";

export const floor = widerUnary("FLOOR", ["TENSOR_FLOAT32", "TENSOR_FLOAT16"], (input, output) =>
  mapElements(input, output, { real: Math.floor }),
);
