/**
 * STABLEHLO_PAD: a value around the elements of a tensor and between them.
 */

import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { read, tensor, wide } from "../params.ts";
import type { Tensor } from "../tensor.ts";
import { movesComplex } from "./_complex.tflite.ts";
import { listOf, movable } from "./_integers.tflite.ts";
import { type Padding, paddedExtents, padWithin } from "./_interior-padding.tflite.ts";
import { movedInfo } from "./_moved.ts";
import { realTypes } from "./_types.tflite.ts";

export const stablehloPad = movesComplex(
  defineOperation({
    name: "STABLEHLO_PAD",
    code: 1195,
    summary: "Surrounds the elements of a tensor with a value, also between them; less than 0 cuts elements off.",
    params: [
      wide(tensor("operand")),
      wide(tensor("paddingValue")),
      read(tensor("edgePaddingLow", "TENSOR_INT32")),
      read(tensor("edgePaddingHigh", "TENSOR_INT32")),
      read(tensor("interiorPadding", "TENSOR_INT32")),
    ],
    outputs: [wide(tensor("output"))],
    types: realTypes.map((type) => ["1.2", type, type, type] as const),
    ranks: { edgePaddingLow: 1, edgePaddingHigh: 1, interiorPadding: 1 },
    infer: (args) => ({
      output: movedInfo(args.operand, paddedExtents(args.operand.dimensions, readPadding(args))),
    }),
    reference(args, { output }) {
      const { operand, paddingValue } = args;
      const { length } = paddingValue.data;
      ensure(length === 1, () => `the value: expected 1 element, got ${length}`);
      const [source, target, [value]] = [movable(operand.data), movable(output.data), movable(paddingValue.data)];
      return padWithin(operand.dimensions, source, readPadding(args), output.dimensions, target, value);
    },
  }),
);

function readPadding(args: {
  readonly operand: { readonly dimensions: readonly number[] };
  readonly edgePaddingLow: Tensor;
  readonly edgePaddingHigh: Tensor;
  readonly interiorPadding: Tensor;
}): Padding {
  const rank = args.operand.dimensions.length;
  const check = (name: "edgePaddingLow" | "edgePaddingHigh" | "interiorPadding") => {
    const list = listOf(args[name]);
    ensure(list.length === rank, () => `${name}: expected ${rank} numbers (one for each axis), got ${list.length}`);
    return list;
  };
  return {
    low: check("edgePaddingLow"),
    high: check("edgePaddingHigh"),
    interior: check("interiorPadding"),
  };
}
