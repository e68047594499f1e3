/**
 * FILL for all types; the extents may be 64-bit, and the value may be computed.
 */

import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { read, tensor, wide } from "../params.ts";
import { movesComplex } from "./_complex.tflite.ts";
import { fillElements } from "./_copies.ts";
import { indexTypes, listOf, movable } from "./_integers.tflite.ts";
import { realTypes } from "./_types.tflite.ts";

export const fill = movesComplex(
  defineOperation({
    name: "FILL",
    code: OperationType.FILL,
    summary: "A tensor of given extents, all of whose elements have one value.",
    params: [read(wide(tensor("dimensions"))), wide(tensor("value"))],
    outputs: [wide(tensor("output"))],
    types: indexTypes.flatMap((integer) => [
      ...realTypes.map((type) => ["1.2", integer, type, type] as const),
      ["1.2", integer, "FLOAT32", "TENSOR_FLOAT32"] as const,
      ["1.2", integer, "FLOAT16", "TENSOR_FLOAT16"] as const,
      ["1.2", integer, "INT32", "TENSOR_INT32"] as const,
    ]),
    ranks: { dimensions: 1 },
    infer({ dimensions, value }) {
      const shape = listOf(dimensions);
      shape.forEach((extent, axis) => {
        ensure(extent >= 0, () => `the extent of axis ${axis} is ${extent}, less than 0`);
      });
      const { scale, zeroPoint } = value;
      return { output: { dimensions: shape.length === 0 ? [1] : shape, scale, zeroPoint } };
    },
    reference({ value }, { output }) {
      const { length } = value.data;
      ensure(length === 1, () => `the value: expected 1 element, got ${length}`);
      return fillElements(movable(output.data), movable(value.data)[0]);
    },
  }),
);
