/**
 * Operators of one tensor and a result of the same type and shape, without options.
 */

import { defineOperation } from "../define.ts";
import type { AnyOperandType } from "../operand-type.ts";
import { tensor } from "../params.ts";
import type { Phase } from "../phases.ts";
import type { AnyOutput, AnyTensor } from "./_elements.tflite.ts";
import { anyRank, type ElementFunctions, mapElements } from "./_elementwise.tflite.ts";
import { widerOf } from "./_wider.tflite.ts";
import type { abs } from "./abs.ts";
import type { exp } from "./exp.ts";
import type { floor } from "./floor.ts";
import type { log } from "./log.ts";
import type { logistic } from "./logistic.ts";
import type { neg } from "./neg.ts";
import type { relu } from "./relu.ts";
import type { relu1 } from "./relu1.ts";
import type { relu6 } from "./relu6.ts";
import type { rsqrt } from "./rsqrt.ts";
import type { sqrt } from "./sqrt.ts";
import type { tanh } from "./tanh.ts";

/** Operations of the HAL with one tensor and nothing else. */
type Unary =
  | typeof abs
  | typeof exp
  | typeof floor
  | typeof log
  | typeof logistic
  | typeof neg
  | typeof relu
  | typeof relu1
  | typeof relu6
  | typeof rsqrt
  | typeof sqrt
  | typeof tanh;

/** Defines one of the HAL's operations for more types and ranks; the model chooses the quantisation of the result. */
export function widerUnary<Base extends Unary>(
  base: Base,
  types: readonly AnyOperandType[],
  kernel: (input: AnyTensor, output: AnyOutput) => Phase,
): Base {
  return widerOf<Unary, Base>(base, {
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
