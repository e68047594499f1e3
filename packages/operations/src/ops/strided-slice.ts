/**
 * STRIDED_SLICE: every stride-th element between two corners of a tensor, backwards if the stride is negative.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { clamp } from "../fixed-point.ts";
import { int32, read, tensor } from "../params.ts";
import { stridesOf } from "../shape.ts";
import type { Tensor } from "../tensor.ts";
import { floatAndQuant8Types, movedInfo } from "./_moved.ts";
import { copySteps, offsetOf } from "./_rearrange.ts";

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
    const kept = rangesOf(input.dimensions, slicing).filter((_, axis) => !hasBit(slicing.shrinkAxisMask, axis));
    return { output: movedInfo(input, kept.length === 0 ? [1] : kept.map((range) => range.length)) };
  },
  reference({ input, ...slicing }, { output }) {
    const ranges = rangesOf(input.dimensions, slicing);
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

/** The elements along one axis: `length` of them from `first` on. */
interface Range {
  readonly first: number;
  readonly stride: number;
  readonly length: number;
}

/** The operands beside the input. */
interface Slicing {
  readonly begin: Tensor;
  readonly end: Tensor;
  readonly strides: Tensor;
  readonly beginMask: number;
  readonly endMask: number;
  readonly shrinkAxisMask: number;
}

function rangesOf(dimensions: readonly number[], slicing: Slicing): readonly Range[] {
  const { begin, end, strides, beginMask, endMask, shrinkAxisMask } = slicing;
  const rank = dimensions.length;
  for (const [name, operand] of Object.entries({ begin, end, strides })) {
    const { length } = operand.data;
    ensure(length === rank, () => `${name} has ${length} elements where ${rank}, the rank, are needed`);
  }
  return dimensions.map((extent, axis) => {
    const stride = strides.data[axis];
    ensure(stride !== 0, () => `the stride of axis ${axis} is 0`);
    // The places that a slice may begin at and end before: one behind the last element it can reach.
    const [least, greatest] = stride > 0 ? [0, extent] : [-1, extent - 1];
    const resolve = (index: number) => clamp(index < 0 ? index + extent : index, least, greatest);
    const first = hasBit(beginMask, axis) ? (stride > 0 ? least : greatest) : resolve(begin.data[axis]);
    const past = hasBit(endMask, axis) ? (stride > 0 ? greatest : least) : resolve(end.data[axis]);
    const length = Math.max(0, Math.ceil((past - first) / stride));
    if (hasBit(shrinkAxisMask, axis)) {
      ensure(stride > 0, () => `the stride of axis ${axis}, which is removed, is ${stride} where one > 0 is needed`);
      ensure(length === 1, () => `axis ${axis}, which is removed, has ${length} elements where 1 is needed`);
    }
    return { first, stride, length };
  });
}

function hasBit(mask: number, bit: number): boolean {
  return (mask & (1 << bit)) !== 0;
}
