/** CAST, FILL and the reductions of truth values. */
import type { KernelTensor } from "@nnhal/backend";
import { integerRange, isFloat, type TensorInfo } from "@nnhal/operations";
import { elementOf } from "./arithmetic.ts";
import { addElementwise, type Builder, outputOf, type Value } from "./builder.ts";
import { convert, type Expression, makeInteger, real, within } from "./expression.ts";
import type { LoweringTable } from "./lowering.ts";

/** An element as another type holds it: cut off, and within its range; NaN becomes 0. */
function cast(input: TensorInfo, output: TensorInfo): Expression {
  const x = elementOf(0, input);
  if (input.type === output.type) return x;
  if (isFloat(output.type)) return x.type === "f32" ? x : convert("toFloat", x);
  const [least, greatest] = integerRange(output.type);
  if (output.type === "TENSOR_INT32") return x.type === "i32" ? x : convert("toInteger", x);
  const bounded = within(x, least, greatest);
  return x.type === "i32" ? bounded : convert("toInteger", bounded);
}

/** Adds a step that casts. */
export function addCast(builder: Builder, input: KernelTensor, output: TensorInfo): Value {
  const target = outputOf(builder, output);
  addElementwise(builder, "CAST", [builder.read(input)], target, cast(input, output));
  return target;
}

/** The lowerings. */
export const casting: LoweringTable = {
  CAST: ({ input }, { output }, builder) => addCast(builder, input, output),
  FILL({ value }, { output }, builder) {
    const target = outputOf(builder, output);
    addElementwise(builder, "FILL", [], target, isFloat(output.type) ? real(value) : makeInteger(value), 1);
    return target;
  },
};
