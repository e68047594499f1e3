/**
 * REVERSE: the elements of a tensor backwards along one axis.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { tensor } from "../params.ts";
import { ensureShape } from "../shape.ts";
import { movedInfo, movedTypesSince } from "./_moved.ts";
import { reverseAxes } from "./_rearrange.ts";

export const reverse = defineOperation({
  name: "REVERSE",
  code: OperationType.REVERSE,
  summary: "The elements of a tensor backwards along one axis.",
  params: [tensor("input"), tensor("axis", "TENSOR_INT32")],
  outputs: [tensor("output")],
  types: movedTypesSince("aidl3"),
  ranks: { input: [1, 8], axis: 1 },
  infer({ input, axis }) {
    ensureShape("the axis", axis, [1]);
    return { output: movedInfo(input, input.dimensions) };
  },
  reference({ input: { data, dimensions }, axis }, { output }) {
    const [place] = axis.data;
    const rank = dimensions.length;
    ensure(place >= 0 && place < rank, () => `axis ${place} is outside [0, ${rank})`);
    return reverseAxes(data, dimensions, new Set([place]), output.data);
  },
});
