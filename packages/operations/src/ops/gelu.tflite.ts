/**
 * GELU: the Gaussian error linear unit.
 */

import { defineOperation } from "../define.ts";
import { bool, tensor } from "../params.ts";
import { complementaryError } from "./_error-function.tflite.ts";
import { mapFunction } from "./_function.tflite.ts";
import { activationTypes } from "./_types.tflite.ts";

const types = [...activationTypes, "TENSOR_FLOAT16"] as const;

export const gelu = defineOperation({
  name: "GELU",
  code: 1150,
  summary:
    "x times the standard normal distribution function of x, or with `approximate` a formula with tanh that is near to it.",
  params: [tensor("input"), bool("approximate")],
  outputs: [tensor("output")],
  types: types.map((type) => ["1.2", type, type] as const),
  work: "functionElement",
  infer: ({ input }) => ({ output: { dimensions: input.dimensions } }),
  reference: ({ input, approximate }, { output }) => mapFunction(input, output, approximate ? approximateGelu : exact),
});

function exact(value: number): number {
  return 0.5 * value * complementaryError(-value * Math.SQRT1_2);
}

function approximateGelu(value: number): number {
  return 0.5 * value * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (value + 0.044715 * value ** 3)));
}
