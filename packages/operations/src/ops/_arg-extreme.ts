/**
 * ARGMAX and ARGMIN: the place of the greatest or least element along an axis, the first of several.
 */
import type { OperationTypeName } from "@nnhal/types";
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { int32, tensor } from "../params.ts";
import { resolveAxis } from "../shape.ts";
import { computeLanes, lanesOf, type Pass } from "./_lanes.ts";

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
      const find: Pass = ({ from, to, step, start, lane }, [found = start]) => {
        let best = found;
        for (let at = from; at < to; at += step) if (isBetter(data[at], data[best])) best = at;
        output.data[lane] = (best - start) / step;
        return best;
      };
      return computeLanes(lanes, 4, [find]);
    },
  });
}
