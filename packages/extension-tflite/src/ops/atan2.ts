/**
 * ATAN2: the angle of a point. The tensors have one shape, they do not broadcast.
 */
import { defineOperation, ensureShape, tensor } from "@nnhal/operations/authoring";
import { combineElements } from "../_elementwise.ts";
import { tfliteTypes } from "../types.ts";

const { TENSOR_FLOAT64 } = tfliteTypes;

export const atan2 = defineOperation({
  name: "ATAN2",
  code: 1156,
  summary: "The angle between the x axis and the point (x, y), in radians.",
  params: [tensor("y"), tensor("x")],
  outputs: [tensor("output")],
  types: [
    ["1.2", "TENSOR_FLOAT32", "TENSOR_FLOAT32", "TENSOR_FLOAT32"],
    ["1.2", "TENSOR_FLOAT16", "TENSOR_FLOAT16", "TENSOR_FLOAT16"],
    ["1.2", TENSOR_FLOAT64, TENSOR_FLOAT64, TENSOR_FLOAT64],
  ],
  work: "functionElement",
  infer({ y, x }) {
    ensureShape("x", x, y.dimensions);
    return { output: { dimensions: y.dimensions } };
  },
  reference: ({ y, x }, { output }) => combineElements(y, x, output, { real: Math.atan2 }),
});
