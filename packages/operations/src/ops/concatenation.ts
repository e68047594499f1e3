/**
 * CONCATENATION: joins tensors along one axis. Quantised inputs may differ in scale and zero point since HAL 1.2 and
 * are requantised to the output's.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { int32, tensor, variadic } from "../params.ts";
import { extentProduct, formatShape } from "../shape.ts";
import { copySteps } from "./_rearrange.ts";
import { requantise } from "./_requantise.ts";

export const concatenation = defineOperation({
  name: "CONCATENATION",
  code: OperationType.CONCATENATION,
  summary: "Joins tensors along one axis.",
  params: [variadic(tensor("inputs")), int32("axis")],
  outputs: [tensor("output")],
  types: [
    ["1.0", "TENSOR_FLOAT32", "TENSOR_FLOAT32"],
    ["1.2", "TENSOR_FLOAT16", "TENSOR_FLOAT16"],
    ["1.0", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM"],
    ["1.3", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT8_ASYMM_SIGNED"],
  ],
  ranks: { inputs: [1, 4] },
  since: ({ inputs }, { output }) =>
    inputs.some((input) => input.scale !== output.scale || input.zeroPoint !== output.zeroPoint) ? "1.2" : undefined,
  infer({ inputs, axis }) {
    const dimensions = [...inputs[0].dimensions];
    ensure(axis >= 0 && axis < dimensions.length, () => `axis ${axis} is outside [0, ${dimensions.length})`);
    dimensions[axis] = 0;
    inputs.forEach((input, position) => {
      ensure(
        input.dimensions.length === dimensions.length &&
          input.dimensions.every((extent, other) => other === axis || extent === dimensions[other]),
        () =>
          `input ${position} has shape ${formatShape(input.dimensions)}, which differs from input 0's ` +
          `${formatShape(inputs[0].dimensions)} in more than axis ${axis}`,
      );
      dimensions[axis] += input.dimensions[axis];
    });
    return { output: { dimensions } };
  },
  reference({ inputs, axis }, { output }) {
    const outer = extentProduct(output.dimensions, 0, axis);
    const to = extentProduct(output.dimensions, axis);
    let start = 0;
    return inputs.flatMap((input) => {
      const row = extentProduct(input.dimensions, axis);
      const { data, phases } = requantise(input, output);
      const copy = copySteps([outer, row], data, { start: 0, steps: [row, 1] }, output.data, { start, steps: [to, 1] });
      start += row;
      return [...phases, copy];
    });
  },
});
