/**
 * CHANNEL_SHUFFLE: deals the channels of each group out in turn. Channel group·size + k goes to k·groups + group.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { int32, tensor } from "../params.ts";
import { extentProduct, resolveAxis } from "../shape.ts";
import { floatAndQuant8Types, movedInfo } from "./_moved.ts";
import { permute } from "./_rearrange.ts";

export const channelShuffle = defineOperation({
  name: "CHANNEL_SHUFFLE",
  code: OperationType.CHANNEL_SHUFFLE,
  summary: "Divides channels into groups and brings together those with the same place in each group.",
  params: [tensor("input"), int32("groups"), int32("axis")],
  outputs: [tensor("output")],
  types: floatAndQuant8Types("1.2"),
  ranks: { input: [1, 4] },
  infer({ input, groups, axis }) {
    const { dimensions } = input;
    const channels = dimensions[resolveAxis(axis, dimensions.length)];
    ensure(groups >= 1, () => `the number of groups: expected at least 1, got ${groups}`);
    ensure(channels % groups === 0, () => `${channels} channels do not divide into ${groups} groups`);
    return { output: movedInfo(input, dimensions) };
  },
  reference({ input, groups, axis }, { output }) {
    const { dimensions } = input;
    const channelAxis = resolveAxis(axis, dimensions.length);
    const outer = extentProduct(dimensions, 0, channelAxis);
    const inner = extentProduct(dimensions, channelAxis + 1);
    return permute(input.data, [outer, groups, dimensions[channelAxis] / groups, inner], [0, 2, 1, 3], output.data);
  },
});
