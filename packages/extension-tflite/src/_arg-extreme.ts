/**
 * ARGMAX and ARGMIN for the types of .tflite.
 */
import { ensure, resolveAxis } from "@nnhal/operations";
import { defineOperation, read, tensor, wide } from "@nnhal/operations/authoring";
import { computeLanes, lanesOf, type Pass } from "@nnhal/operations/kernels";
import { OperationType } from "@nnhal/types";
import { indexTypes, oneNumber } from "./_integers.ts";
import { integerStore } from "./_store.ts";

const types = [
  "TENSOR_FLOAT32",
  "TENSOR_INT32",
  "TENSOR_QUANT8_ASYMM",
  "TENSOR_QUANT8_ASYMM_SIGNED",
  "TENSOR_BOOL8",
] as const;

/** Defines ARGMAX or ARGMIN; `isBetter` returns whether an element replaces the best one before it. */
export function defineArgExtreme<const Name extends "ARGMAX" | "ARGMIN">(
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
