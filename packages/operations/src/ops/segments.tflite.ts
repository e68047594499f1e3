/**
 * Reductions of slices by segment, in order and in any order.
 */
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { mayStayZero, read, tensor } from "../params.ts";
import type { Phase } from "../phases.ts";
import { ensureShape, extentProduct, formatShape, sameShape } from "../shape.ts";
import type { TensorData } from "../tensor.ts";
import { fillElements } from "./_copies.ts";
import { oneNumber } from "./_integers.tflite.ts";

/** The result of one more element of a segment; rounded, or wrapped, when it is stored. */
type Combine = (result: number, element: number) => number;

/** Combines each slice of `source` into that of `target` which its id names; a slice with an id of less than 0 counts nowhere. */
function combineSegments(
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
interface SegmentReduction {
  readonly name: string;
  readonly code: number;
  readonly summary: string;
  readonly start: readonly [real: number, integer: number];
  readonly combine: Combine;
  /** For integers. Default: `combine`. */
  readonly combineIntegers?: Combine;
}

/** Defines an operation on segments in any order. */
function defineUnsortedSegment<const Name extends string>({
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

/** The operators. */
export const segments = [
  defineOperation({
    name: "SEGMENT_SUM",
    code: 1125,
    summary:
      "Sums of slices along the first axis; the segment ids begin with 0, and each is that of the slice before or one more.",
    params: [tensor("data"), read(tensor("segmentIds", "TENSOR_INT32"))],
    outputs: [mayStayZero(tensor("output"))],
    types: [
      ["1.2", "TENSOR_FLOAT32", "TENSOR_FLOAT32"],
      ["1.2", "TENSOR_INT32", "TENSOR_INT32"],
    ],
    ranks: { data: [1, Number.POSITIVE_INFINITY], segmentIds: 1 },
    infer({ data: { dimensions }, segmentIds }) {
      ensureShape("the segment ids", segmentIds, dimensions.slice(0, 1));
      let last = -1;
      segmentIds.data.forEach((id, place) => {
        ensure(
          id === last + 1 || (id === last && place > 0),
          () => `segment id ${id} at ${place} is ${place === 0 ? "not 0" : `neither ${last} nor ${last + 1}`}`,
        );
        last = id;
      });
      return { output: { dimensions: [last + 1, ...dimensions.slice(1)] } };
    },
    reference({ data, segmentIds }, { output }) {
      const slice = extentProduct(data.dimensions, 1);
      return combineSegments(data.data, segmentIds.data, slice, output.data, (sum, element) => sum + element);
    },
  }),
  defineUnsortedSegment({
    name: "UNSORTED_SEGMENT_MAX",
    code: 1154,
    summary: "The greatest of the slices of each segment; the least number if it has none.",
    start: [-(2 - 2 ** -23) * 2 ** 127, -(2 ** 31)],
    combine: (greatest, element) => (greatest < element ? element : greatest),
  }),
  defineUnsortedSegment({
    name: "UNSORTED_SEGMENT_MIN",
    code: 1157,
    summary: "The least of the slices of each segment; the greatest number if it has none.",
    start: [(2 - 2 ** -23) * 2 ** 127, 2 ** 31 - 1],
    combine: (least, element) => (element < least ? element : least),
  }),
  defineUnsortedSegment({
    name: "UNSORTED_SEGMENT_PROD",
    code: 1153,
    summary: "The product of the slices of each segment; 1 if it has none.",
    start: [1, 1],
    combine: (product, element) => product * element,
    combineIntegers: Math.imul,
  }),
  defineUnsortedSegment({
    name: "UNSORTED_SEGMENT_SUM",
    code: 1155,
    summary: "The sum of the slices of each segment; 0 if it has none.",
    start: [0, 0],
    combine: (sum, element) => sum + element,
  }),
] as const;
