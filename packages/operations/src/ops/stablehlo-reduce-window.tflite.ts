/**
 * STABLEHLO_REDUCE_WINDOW: one number for each place of a window that slides over a tensor, with the initial value around the elements of
 * the tensor and between them.
 */

import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { int32, read, tensor, wide } from "../params.ts";
import type { Tensor } from "../tensor.ts";
import { listOf } from "./_integers.tflite.ts";
import { type Padding, paddedExtents } from "./_interior-padding.tflite.ts";
import { movedInfo } from "./_moved.ts";
import { realTypes } from "./_types.tflite.ts";
import { reductionFor, slidExtents, slideWindow, type Window, windowList } from "./_window.tflite.ts";

const lists = ["windowDimensions", "windowStrides", "baseDilations", "windowDilations", "padding"] as const;

export const stablehloReduceWindow = defineOperation({
  name: "STABLEHLO_REDUCE_WINDOW",
  code: 1198,
  summary:
    "Slides a window over a tensor that is padded with the initial value: each output is the sum, product, least, greatest, and or or of what is under it.",
  params: [
    wide(tensor("operand")),
    wide(tensor("initValue")),
    read(tensor("windowDimensions", "TENSOR_INT32")),
    read(tensor("windowStrides", "TENSOR_INT32")),
    read(tensor("baseDilations", "TENSOR_INT32")),
    read(tensor("windowDilations", "TENSOR_INT32")),
    read(tensor("padding", "TENSOR_INT32")),
    int32("reduceFunction"),
  ],
  outputs: [wide(tensor("output"))],
  types: realTypes.map((type) => ["1.2", type, type, type] as const),
  ranks: Object.fromEntries(lists.map((name) => [name, 1])),
  infer(args) {
    const { operand, reduceFunction } = args;
    const { window, padding } = layoutOf(args);
    reductionFor(reduceFunction, operand.type);
    return { output: movedInfo(operand, slidExtents(paddedExtents(operand.dimensions, padding), window)) };
  },
  reference(args, { output }) {
    const { operand, initValue, reduceFunction } = args;
    const { window, padding } = layoutOf(args);
    const room = { low: padding.low, distance: padding.interior.map((count) => count + 1) };
    return slideWindow(operand, initValue, output, window, reductionFor(reduceFunction, operand.type), room);
  },
});

type Lists = Readonly<Record<(typeof lists)[number], Tensor>>;

function layoutOf({ operand, ...args }: Lists & { readonly operand: { readonly dimensions: readonly number[] } }): {
  readonly window: Window;
  readonly padding: Padding;
} {
  const rank = operand.dimensions.length;
  const check = (name: keyof Lists) => windowList(name, listOf(args[name]), rank);
  const around = listOf(args.padding);
  ensure(
    around.length === 2 * rank,
    () => `padding: expected ${2 * rank} numbers (two for each axis), got ${around.length}`,
  );
  return {
    window: {
      shape: check("windowDimensions"),
      strides: check("windowStrides"),
      dilations: check("windowDilations"),
    },
    padding: {
      low: around.filter((_, place) => place % 2 === 0),
      high: around.filter((_, place) => place % 2 === 1),
      interior: check("baseDilations").map((dilation) => dilation - 1),
    },
  };
}
