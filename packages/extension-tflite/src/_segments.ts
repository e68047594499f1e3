/**
 * Reductions of slices by segment, and the four operations on segments in any order.
 */
import { ensure, extentProduct, formatShape, type Phase, sameShape, type TensorData } from "@nnhal/operations";
import { defineOperation, read, tensor } from "@nnhal/operations/authoring";
import { fillElements } from "@nnhal/operations/kernels";
import { oneNumber } from "./_integers.ts";

/** The result of one more element of a segment; rounded, or wrapped, when it is stored. */
export type Combine = (result: number, element: number) => number;

/** Combines each slice of `source` into that of `target` which its id names; a slice with an id of less than 0 counts nowhere. */
export function combineSegments(
  source: TensorData,
  ids: TensorData,
  slice: number,
  target: TensorData,
  combine: Combine,
): Phase {
  return {
    units: ids.length * slice,
    inTurn: true,
    compute(first, end) {
      for (let from = first; from < end; from++) {
        const id = ids[Math.floor(from / slice)];
        if (id < 0) continue;
        const to = id * slice + (from % slice);
        target[to] = combine(target[to], source[from]);
      }
    },
  };
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
    reference({ data, segmentIds }, { output }) {
      const [count] = output.dimensions;
      const ids = segmentIds.data;
      const check = (first: number, end: number) => {
        for (let position = first; position < end; position++) {
          const id = ids[position];
          ensure(id < count, () => `segment id ${id} at ${position} is not less than ${count}, the number of segments`);
        }
      };
      const isReal = output.type === "TENSOR_FLOAT32";
      const slice = extentProduct(output.dimensions, 1);
      return [
        { units: ids.length, compute: check },
        fillElements(output.data, isReal ? real : integer),
        combineSegments(data.data, ids, slice, output.data, isReal ? combine : combineIntegers),
      ];
    },
  });
}
