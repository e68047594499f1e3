/**
 * ARGMAX and ARGMIN: the place of the greatest or least element along an axis, the first of several.
 */
import type { OperationTypeName } from "@nnhal/types";
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { int32, tensor } from "../params.ts";
import { resolveAxis } from "../shape.ts";
import type { TensorData } from "../tensor.ts";
import { boundsOf, type Lanes, lanesOf } from "./_lanes.ts";

/** Defines ARGMAX or ARGMIN; `isBetter` returns whether an element replaces the best one before it. */
export function defineArgExtreme<const Name extends OperationTypeName & ("ARGMAX" | "ARGMIN")>(
  name: Name,
  summary: string,
  isBetter: (element: number, best: number) => boolean,
) {
  return defineOperation({
    name,
    code: OperationType[name],
    summary,
    params: [tensor("input"), int32("axis")],
    outputs: [tensor("output", "TENSOR_INT32")],
    types: [
      ["1.2", "TENSOR_FLOAT32"],
      ["1.2", "TENSOR_FLOAT16"],
      ["1.2", "TENSOR_INT32"],
      ["1.2", "TENSOR_QUANT8_ASYMM"],
      ["1.3", "TENSOR_QUANT8_ASYMM_SIGNED"],
    ],
    infer({ input: { dimensions }, axis }) {
      const searched = resolveAxis(axis, dimensions.length);
      ensure(dimensions[searched] > 0, () => `axis ${searched} has no elements`);
      const rest = dimensions.filter((_, other) => other !== searched);
      return { output: { dimensions: rest.length === 0 ? [1] : rest } };
    },
    reference({ input: { data, dimensions }, axis }, { output }) {
      const lanes = lanesOf(dimensions, resolveAxis(axis, dimensions.length));
      return {
        units: lanes.count,
        cost: 4 * lanes.length,
        compute(first, end) {
          for (let lane = first; lane < end; lane++) output.data[lane] = placeOfBest(data, lanes, lane, isBetter);
        },
      };
    },
  });
}

/** The place in a lane of the first element that none other is better than. */
function placeOfBest(
  data: TensorData,
  lanes: Lanes,
  lane: number,
  isBetter: (element: number, best: number) => boolean,
): number {
  const [start, end] = boundsOf(lanes, lane);
  let best = start;
  for (let at = start + lanes.step; at < end; at += lanes.step) if (isBetter(data[at], data[best])) best = at;
  return (best - start) / lanes.step;
}
