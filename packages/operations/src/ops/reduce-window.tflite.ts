/**
 * REDUCE_WINDOW: one number for each place of a window that slides over a tensor. The elements of the window may lie apart.
 */

import { defineOperation } from "../define.ts";
import type { AnyTensorData } from "../operand-type.ts";
import { int32, read, tensor, wide } from "../params.ts";
import type { Tensor } from "../tensor.ts";
import { tfliteTypes } from "../tflite-types.ts";
import { listOf } from "./_integers.tflite.ts";
import { reductionFor, slidExtents, slideWindow, type Window, windowList } from "./_window.tflite.ts";

const { TENSOR_INT64, TENSOR_UINT32, TENSOR_UINT64, TENSOR_FLOAT64 } = tfliteTypes;

const elementTypes = [
  ...([
    "TENSOR_FLOAT32",
    TENSOR_FLOAT64,
    "TENSOR_BOOL8",
    "TENSOR_INT32",
    TENSOR_INT64,
    TENSOR_UINT32,
    TENSOR_UINT64,
  ] as const),
  ...(["TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_SYMM", "TENSOR_QUANT16_ASYMM"] as const),
] as const;

export const reduceWindow = defineOperation({
  name: "REDUCE_WINDOW",
  code: 1205,
  summary:
    "Slides a window over a tensor: each output is the sum, product, least, greatest, and or or of what is under it.",
  params: [
    wide(tensor("input")),
    wide(tensor("initValue")),
    read(wide(tensor("windowShape"))),
    read(wide(tensor("windowStrides"))),
    read(wide(tensor("windowDilations"))),
    int32("reduceFunction"),
  ],
  outputs: [wide(tensor("output"))],
  types: elementTypes.map((type) => ["1.2", type, type, TENSOR_INT64, TENSOR_INT64, TENSOR_INT64, type] as const),
  ranks: { input: [1, 6], windowShape: 1, windowStrides: 1, windowDilations: 1 },
  infer(args) {
    const { type, scale, zeroPoint, dimensions } = args.input;
    const extents = slidExtents(dimensions, windowOf(args, dimensions.length));
    reductionFor(args.reduceFunction, type);
    return { output: { dimensions: extents, scale, zeroPoint } };
  },
  reference(args, { output }) {
    const { input, initValue, reduceFunction } = args;
    const window = windowOf(args, input.dimensions.length);
    return slideWindow(input, initValue, output, window, reductionFor(reduceFunction, input.type));
  },
});

function windowOf(
  args: Readonly<Record<`window${"Shape" | "Strides" | "Dilations"}`, Tensor<AnyTensorData>>>,
  rank: number,
): Window {
  const check = (name: "Shape" | "Strides" | "Dilations") =>
    windowList(`window${name}`, listOf(args[`window${name}`]), rank);
  return { shape: check("Shape"), strides: check("Strides"), dilations: check("Dilations") };
}
