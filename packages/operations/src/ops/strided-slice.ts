/**
 * STRIDED_SLICE: every stride-th element between two corners of a tensor, backwards if the stride is negative.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { int32, read, tensor } from "../params.ts";
import { stridesOf } from "../shape.ts";
import { floatAndQuant8Types, movedInfo } from "./_moved.ts";
import { copySteps, offsetOf } from "./_rearrange.ts";
import { hasBit, stridedRanges } from "./_strided-ranges.ts";

export const stridedSlice = defineOperation({
  name: "STRIDED_SLICE",
  code: OperationType.STRIDED_SLICE,
  summary: "Takes every stride-th element between two corners of a tensor.",
  params: [
    tensor("input"),
    read(tensor("begin", "TENSOR_INT32")),
    read(tensor("end", "TENSOR_INT32")),
    read(tensor("strides", "TENSOR_INT32")),
    int32("beginMask"),
    int32("endMask"),
    int32("shrinkAxisMask"),
  ],
  outputs: [tensor("output")],
  types: floatAndQuant8Types("1.1"),
  ranks: { input: [1, 4], begin: 1, end: 1, strides: 1 },
  infer({ input, ...slicing }) {
    const kept = stridedRanges(input.dimensions, slicing).filter((_, axis) => !hasBit(slicing.shrinkAxisMask, axis));
    return { output: movedInfo(input, kept.length === 0 ? [1] : kept.map((range) => range.length)) };
  },
  reference({ input, ...slicing }, { output }) {
    const ranges = stridedRanges(input.dimensions, slicing);
    const extents = ranges.map((range) => range.length);
    const steps = stridesOf(input.dimensions);
    const from = {
      start: offsetOf(
        ranges.map((range) => range.first),
        steps,
      ),
      steps: ranges.map((range, axis) => range.stride * steps[axis]),
    };
    return copySteps(extents, input.data, from, output.data, { start: 0, steps: stridesOf(extents) });
  },
});
