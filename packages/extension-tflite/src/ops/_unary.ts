/**
 * Operators of one tensor and a result of the same type and shape, without options.
 */
import type { AnyOperandType, Phase } from "@nnhal/operations";
import { defineOperation, tensor } from "@nnhal/operations/authoring";
import type { AnyOutput, AnyTensor } from "../_elements.ts";
import { anyRank, type ElementFunctions, mapElements } from "../_elementwise.ts";
import { widerOf } from "../_wider.ts";

/** Operations of the HAL with one tensor and nothing else. */
type UnaryName =
  | "ABS"
  | "EXP"
  | "FLOOR"
  | "LOG"
  | "LOGISTIC"
  | "NEG"
  | "RELU"
  | "RELU1"
  | "RELU6"
  | "RSQRT"
  | "SQRT"
  | "TANH";

/** Defines one of the HAL's operations for more types and ranks; the model chooses the quantisation of the result. */
export function widerUnary<const Name extends UnaryName>(
  name: Name,
  types: readonly AnyOperandType[],
  kernel: (input: AnyTensor, output: AnyOutput) => Phase,
) {
  return widerOf<UnaryName, Name>(name, {
    from: "TENSOR_FLOAT32",
    types,
    ranks: { input: anyRank },
    infer: ({ input }) => ({ output: { dimensions: input.dimensions } }),
    reference: ({ input }, { output }) => kernel(input, output),
  });
}

/** Defines an operator that the HAL lacks. */
export function unary<const Name extends string>(
  name: Name,
  code: number,
  summary: string,
  types: readonly AnyOperandType[],
  functions: ElementFunctions,
) {
  return defineOperation({
    name,
    code,
    summary,
    params: [tensor("input")],
    outputs: [tensor("output")],
    types: types.map((type) => ["1.2", type, type] as const),
    infer: ({ input }) => ({ output: { dimensions: input.dimensions } }),
    reference: ({ input }, { output }) => mapElements(input, output, functions),
  });
}
