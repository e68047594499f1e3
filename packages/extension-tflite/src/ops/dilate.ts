/**
 * DILATE: the elements of a tensor with room between them, which a value fills.
 */
import { ensure, extentProduct } from "@nnhal/operations";
import { defineOperation, pacer, read, tensor, wide } from "@nnhal/operations/authoring";
import { fillInChunks, movedInfo } from "@nnhal/operations/kernels";
import { movesComplex } from "../_complex.ts";
import { listOf, movable } from "../_integers.ts";
import { copyRun, WORK_OF_A_RUN } from "../_runs.ts";
import { realTypes } from "../_types.ts";

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
    *reference({ input, dilations, paddingValue }, { output }) {
      const { length } = paddingValue.data;
      ensure(length === 1, () => `the value: expected 1 element, got ${length}`);
      const factors = factorsOf(listOf(dilations), input.dimensions);
      const [source, target] = [movable(input.data), movable(output.data)];
      yield* fillInChunks(target, movable(paddingValue.data)[0]);
      // Dimensions at the end that are not dilated are copied in one piece.
      const outer = factors.findLastIndex((factor) => factor > 1) + 1;
      const run = extentProduct(input.dimensions, outer);
      const steps = factors.slice(0, outer).map((factor, axis) => factor * extentProduct(output.dimensions, axis + 1));
      const places = new Array<number>(outer).fill(0);
      const isTime = pacer();
      let to = 0;
      for (let from = 0; from < source.length; from += run) {
        const rest = copyRun(source, from, run, target, to);
        if (rest !== undefined) yield* rest;
        if (isTime(run + WORK_OF_A_RUN)) yield;
        for (let axis = outer - 1; axis >= 0; axis--) {
          to += steps[axis];
          if (++places[axis] < input.dimensions[axis]) break;
          to -= steps[axis] * places[axis];
          places[axis] = 0;
        }
      }
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
