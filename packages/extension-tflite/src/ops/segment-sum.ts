/**
 * SEGMENT_SUM: sums of slices that follow each other.
 */
import { ensure, extentProduct } from "@nnhal/operations";
import { defineOperation, ensureShape, mayStayZero, read, tensor } from "@nnhal/operations/authoring";
import { combineSegments } from "../_segments.ts";

export const segmentSum = defineOperation({
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
        () => `segment id ${id} at ${place} is neither ${place > 0 ? `${last} nor ` : ""}${last + 1}`,
      );
      last = id;
    });
    return { output: { dimensions: [last + 1, ...dimensions.slice(1)] } };
  },
  reference({ data, segmentIds }, { output }) {
    const slice = extentProduct(data.dimensions, 1);
    return combineSegments(data.data, segmentIds.data, slice, output.data, (sum, element) => sum + element);
  },
});
