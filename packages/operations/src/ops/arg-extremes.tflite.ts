/**
 * ARGMAX and ARGMIN for the types of .tflite.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { read, tensor, wide } from "../params.ts";
import { resolveAxis } from "../shape.ts";
import { indexTypes, oneNumber } from "./_integers.tflite.ts";
import { computeLanes, lanesOf, type Pass } from "./_lanes.ts";
import { integerStore } from "./_store.tflite.ts";

const types = [
  "TENSOR_FLOAT32",
  "TENSOR_INT32",
  "TENSOR_QUANT8_ASYMM",
  "TENSOR_QUANT8_ASYMM_SIGNED",
  "TENSOR_BOOL8",
] as const;

/** Defines ARGMAX or ARGMIN; `isBetter` returns whether an element replaces the best one before it. */
function defineArgExtreme<const Name extends "ARGMAX" | "ARGMIN">(
  name: Name,
  summary: string,
  isBetter: (element: number, best: number) => boolean,
) {
  return defineOperation({
    name,
    code: OperationType[name],
    summary,
    params: [tensor("input"), read(wide(tensor("axis")))],
    outputs: [wide(tensor("output"))],
    types: types.flatMap((type) =>
      (["INT32", ...indexTypes] as const).flatMap((axis) =>
        indexTypes.map((result) => ["1.2", type, axis, result] as const),
      ),
    ),
    infer({ input: { dimensions }, axis }) {
      const searched = resolveAxis(oneNumber("axis", axis), dimensions.length);
      ensure(dimensions[searched] > 0, () => `axis ${searched} has no elements`);
      const rest = dimensions.filter((_, other) => other !== searched);
      return { output: { dimensions: rest.length === 0 ? [1] : rest } };
    },
    reference({ input: { data, dimensions }, axis }, { output }) {
      const searched = resolveAxis(oneNumber("axis", axis), dimensions.length);
      const lanes = lanesOf(dimensions, searched);
      const store = integerStore(output.data);
      const find: Pass = ({ from, to, step, start, lane }, [found = start]) => {
        let best = found;
        for (let at = from; at < to; at += step) if (isBetter(data[at], data[best])) best = at;
        store(lane, (best - start) / step);
        return best;
      };
      return computeLanes(lanes, 4, [find]);
    },
  });
}

/** The operators. */
export const argExtremes = [
  defineArgExtreme(
    "ARGMAX",
    "The place of the greatest element along an axis, the first of several.",
    (element, best) => element > best,
  ),
  defineArgExtreme(
    "ARGMIN",
    "The place of the least element along an axis, the first of several.",
    (element, best) => element < best,
  ),
] as const;
