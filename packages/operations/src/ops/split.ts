/**
 * SPLIT: cuts a tensor into equal parts along one axis.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { int32, tensor, variadic } from "../params.ts";
import { extentProduct, resolveAxis } from "../shape.ts";
import { copySteps } from "./_rearrange.ts";

export const split = defineOperation({
  name: "SPLIT",
  code: OperationType.SPLIT,
  summary: "Cuts a tensor into equal parts along one axis.",
  params: [tensor("input"), int32("axis"), int32("count")],
  outputs: [variadic(tensor("outputs"))],
  types: [
    ["1.2", "TENSOR_FLOAT16", "TENSOR_FLOAT16"],
    ["1.2", "TENSOR_FLOAT32", "TENSOR_FLOAT32"],
    ["1.2", "TENSOR_INT32", "TENSOR_INT32"],
    ["1.2", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM"],
    ["1.3", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT8_ASYMM_SIGNED"],
  ],
  infer({ input, axis, count }, { outputs }) {
    const splitAxis = resolveAxis(axis, input.dimensions.length);
    const extent = input.dimensions[splitAxis];
    ensure(count === outputs.length, () => `the count is ${count}, but there are ${outputs.length} outputs`);
    ensure(extent % count === 0, () => `axis ${splitAxis} has extent ${extent}, not a multiple of ${count}`);
    const dimensions = input.dimensions.map((other, index) => (index === splitAxis ? extent / count : other));
    const { scale, zeroPoint } = input;
    return { outputs: outputs.map(() => ({ dimensions, scale, zeroPoint })) };
  },
  reference({ input, axis }, { outputs }) {
    const splitAxis = resolveAxis(axis, input.dimensions.length);
    const outer = extentProduct(input.dimensions, 0, splitAxis);
    const inputRow = extentProduct(input.dimensions, splitAxis);
    const row = inputRow / outputs.length;
    return outputs.map((output, part) => {
      const from = { start: part * row, steps: [inputRow, 1] };
      return copySteps([outer, row], input.data, from, output.data, { start: 0, steps: [row, 1] });
    });
  },
});
