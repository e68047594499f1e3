/**
 * DILATE: the elements of a tensor with room between them, which a value fills.
 */

import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { read, tensor, wide } from "../params.ts";
import { extentProduct } from "../shape.ts";
import { movesComplex } from "./_complex.tflite.ts";
import { fillElements } from "./_copies.ts";
import { listOf, movable } from "./_integers.tflite.ts";
import { movedInfo } from "./_moved.ts";
import { copyRuns } from "./_runs.tflite.ts";
import { realTypes } from "./_types.tflite.ts";

export const dilate = movesComplex(
  defineOperation({
    name: "DILATE",
    code: 1203,
    summary: "Moves the elements of each dimension apart by a factor, and fills the room between them with a value.",
    params: [wide(tensor("input")), read(tensor("dilations", "TENSOR_INT32")), wide(tensor("paddingValue"))],
    outputs: [wide(tensor("output"))],
    types: realTypes.map((type) => ["1.2", type, type, type] as const),
    ranks: { input: [1, Number.POSITIVE_INFINITY], dilations: 1 },
    infer({ input, dilations }) {
      const factors = factorsOf(listOf(dilations), input.dimensions);
      return {
        output: movedInfo(
          input,
          input.dimensions.map((extent, axis) => (extent - 1) * factors[axis] + 1),
        ),
      };
    },
    reference({ input, dilations, paddingValue }, { output }) {
      const { length } = paddingValue.data;
      ensure(length === 1, () => `the value: expected 1 element, got ${length}`);
      const factors = factorsOf(listOf(dilations), input.dimensions);
      const [source, target] = [movable(input.data), movable(output.data)];
      // Dimensions at the end that are not dilated are copied in one piece.
      const outer = factors.findLastIndex((factor) => factor > 1) + 1;
      const run = extentProduct(input.dimensions, outer);
      const steps = factors.slice(0, outer).map((factor, axis) => factor * extentProduct(output.dimensions, axis + 1));
      const toOf = (index: number) => {
        let [rest, to] = [index, 0];
        for (let axis = outer - 1; axis >= 0; axis--) {
          to += (rest % input.dimensions[axis]) * steps[axis];
          rest = Math.floor(rest / input.dimensions[axis]);
        }
        return to;
      };
      return [
        fillElements(target, movable(paddingValue.data)[0]),
        copyRuns(source.length / run, run, source, (index) => index * run, target, toOf),
      ];
    },
  }),
);

/** The factors, checked: one for each dimension, at least 1. */
function factorsOf(factors: readonly number[], dimensions: readonly number[]): readonly number[] {
  ensure(
    factors.length === dimensions.length,
    () => `expected ${dimensions.length} dilations (one for each dimension), got ${factors.length}`,
  );
  factors.forEach((factor, axis) => {
    ensure(factor >= 1, () => `the dilation of axis ${axis}: expected at least 1, got ${factor}`);
    ensure(dimensions[axis] !== 0, () => `axis ${axis} has no elements, and so cannot be dilated`);
  });
  return factors;
}
