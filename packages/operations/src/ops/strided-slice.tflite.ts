/**
 * STRIDED_SLICE for all types and ranks, with all masks of .tflite.
 */

import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { bool, int32, optional, read, tensor, wide } from "../params.ts";
import { stridesOf } from "../shape.ts";
import { movesComplex } from "./_complex.tflite.ts";
import { movable } from "./_integers.tflite.ts";
import { movedInfo } from "./_moved.ts";
import { copySteps } from "./_rearrange.ts";
import { type Slicing, slicedAxes } from "./_sliced.tflite.ts";
import { realTypes } from "./_types.tflite.ts";

export const stridedSlice = movesComplex(
  defineOperation({
    name: "STRIDED_SLICE",
    code: OperationType.STRIDED_SLICE,
    summary:
      "Takes every stride-th element between two corners of a tensor; masks open corners, insert axes and remove them.",
    params: [
      wide(tensor("input")),
      read(tensor("begin", "TENSOR_INT32")),
      read(tensor("end", "TENSOR_INT32")),
      read(tensor("strides", "TENSOR_INT32")),
      int32("beginMask"),
      int32("endMask"),
      int32("shrinkAxisMask"),
      optional("1.2", int32("ellipsisMask"), 0),
      optional("1.2", int32("newAxisMask"), 0),
      optional("1.2", bool("offset"), false),
    ],
    outputs: [wide(tensor("output"))],
    types: realTypes.map((type) => ["1.2", type, type] as const),
    ranks: { input: [1, Number.POSITIVE_INFINITY], begin: 1, end: 1, strides: 1 },
    infer({ input, ...slicing }) {
      const kept = axesOf(input.dimensions, slicing).filter(({ isRemoved }) => !isRemoved);
      return { output: movedInfo(input, kept.length === 0 ? [1] : kept.map(({ length }) => length)) };
    },
    reference({ input, ...slicing }, { output }) {
      const axes = axesOf(input.dimensions, slicing);
      const steps = stridesOf(input.dimensions);
      const stepOf = ({ axis }: { readonly axis: number | undefined }) => (axis === undefined ? 0 : steps[axis]);
      const start = axes.reduce((sum, each) => sum + each.first * stepOf(each), 0);
      const from = { start, steps: axes.map((each) => each.stride * stepOf(each)) };
      const extents = axes.map(({ length }) => length);
      return copySteps(extents, movable(input.data), from, movable(output.data), {
        start: 0,
        steps: stridesOf(extents),
      });
    },
  }),
);

type Operands = { readonly [Name in "begin" | "end" | "strides"]: { readonly data: ArrayLike<number> } } & Omit<
  Slicing,
  "begin" | "end" | "strides"
>;

function axesOf(dimensions: readonly number[], { begin, end, strides, ...masks }: Operands) {
  const [first, past, steps] = [Array.from(begin.data), Array.from(end.data), Array.from(strides.data)];
  ensure(
    first.length === past.length && first.length === steps.length,
    () =>
      `begin, end and strides: expected as many elements each, got ${first.length}, ${past.length} and ${steps.length}`,
  );
  return slicedAxes(dimensions, { begin: first, end: past, strides: steps, ...masks });
}
