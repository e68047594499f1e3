/**
 * Reductions of slices by segment, and the four operations on segments in any order.
 */
import { ensure, extentProduct, formatShape, sameShape, type TensorData } from "@nnhal/operations";
import { defineOperation, pacer, read, tensor } from "@nnhal/operations/authoring";
import { fillInChunks } from "@nnhal/operations/kernels";
import { oneNumber } from "./_integers.ts";

/** The result of one more element of a segment; rounded, or wrapped, when it is stored. */
export type Combine = (result: number, element: number) => number;

/** Combines each slice of `source` into that of `target` which its id names; a slice with an id of less than 0 counts nowhere. */
export function* combineSegments(
  source: TensorData,
  ids: TensorData,
  slice: number,
  target: TensorData,
  combine: Combine,
): Generator<void, void> {
  const isTime = pacer();
  for (let position = 0; position < ids.length; position++) {
    const id = ids[position];
    if (id >= 0) {
      for (let place = 0; place < slice; place++) {
        const to = id * slice + place;
        target[to] = combine(target[to], source[position * slice + place]);
        if (isTime(1)) yield;
      }
    }
    if (isTime(1)) yield;
  }
}

/** Reduction of the slices of a segment. `start`: the results of empty segments, of a float and of an integer type. */
export interface SegmentReduction {
  readonly name: string;
  readonly code: number;
  readonly summary: string;
  readonly start: readonly [real: number, integer: number];
  readonly combine: Combine;
  /** For integers. Default: `combine`. */
  readonly combineIntegers?: Combine;
}

/** Defines an operation on segments in any order. */
export function defineUnsortedSegment<const Name extends string>({
  name,
  code,
  summary,
  start: [real, integer],
  combine,
  combineIntegers = combine,
}: SegmentReduction & { readonly name: Name }) {
  return defineOperation({
    name,
    code,
    summary,
    params: [tensor("data"), tensor("segmentIds", "TENSOR_INT32"), read(tensor("numSegments", "TENSOR_INT32"))],
    outputs: [tensor("output")],
    types: [
      ["1.2", "TENSOR_FLOAT32", "TENSOR_FLOAT32"],
      ["1.2", "TENSOR_INT32", "TENSOR_INT32"],
    ],
    ranks: { data: [1, Number.POSITIVE_INFINITY], segmentIds: [1, Number.POSITIVE_INFINITY] },
    infer({ data: { dimensions }, segmentIds, numSegments }) {
      const rank = segmentIds.dimensions.length;
      ensure(
        sameShape(segmentIds.dimensions, dimensions.slice(0, rank)),
        () =>
          `segment ids of shape ${formatShape(segmentIds.dimensions)} are not for the first axes of ${formatShape(dimensions)}`,
      );
      const count = oneNumber("numSegments", numSegments);
      ensure(count >= 0, () => `the number of segments is ${count}, less than 0`);
      return { output: { dimensions: [count, ...dimensions.slice(rank)] } };
    },
    *reference({ data, segmentIds }, { output }) {
      const [count] = output.dimensions;
      const isTime = pacer();
      for (let position = 0; position < segmentIds.data.length; position++) {
        const id = segmentIds.data[position];
        ensure(id < count, () => `segment id ${id} at ${position} is not less than ${count}, the number of segments`);
        if (isTime(1)) yield;
      }
      const isReal = output.type === "TENSOR_FLOAT32";
      yield* fillInChunks(output.data, isReal ? real : integer);
      const slice = extentProduct(output.dimensions, 1);
      yield* combineSegments(data.data, segmentIds.data, slice, output.data, isReal ? combine : combineIntegers);
    },
  });
}
