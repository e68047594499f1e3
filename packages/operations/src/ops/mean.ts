/**
 * MEAN: the mean of the elements along some axes. HAL: without axes nothing is reduced.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { roundHalfAway } from "../fixed-point.ts";
import { int32, read, tensor } from "../params.ts";
import type { Phase } from "../phases.ts";
import { isFloat } from "../tensor.ts";
import { floatAndQuant8Types, movedInfo } from "./_moved.ts";
import { ensureElements, reduce, reducedAxes, reducedCount, reducedShape } from "./_reduction.ts";

export const mean = defineOperation({
  name: "MEAN",
  code: OperationType.MEAN,
  summary: "The mean of the elements along some axes.",
  params: [tensor("input"), read(tensor("axes", "TENSOR_INT32")), int32("keepDimensions")],
  outputs: [tensor("output")],
  types: floatAndQuant8Types("1.1"),
  ranks: { input: [1, 4], axes: 1 },
  infer({ input, axes, keepDimensions }) {
    const { dimensions } = input;
    const reduced = reducedAxes(axes, dimensions.length);
    ensureElements(dimensions, reduced);
    return { output: movedInfo(input, reducedShape(dimensions, reduced, keepDimensions > 0)) };
  },
  // Σ input / count; quantised: rounded, with the same zero point.
  reference({ input, axes }, { output }) {
    const reduced = reducedAxes(axes, input.dimensions.length);
    const count = reducedCount(input.dimensions, reduced);
    const sums = new Float64Array(output.data.length);
    const { zeroPoint } = input;
    const finish: Phase["compute"] = isFloat(output.type)
      ? (first, end) => {
          for (let index = first; index < end; index++) output.data[index] = sums[index] / count;
        }
      : (first, end) => {
          // Rounding real values, not stored ones, makes the signed type's results those of the unsigned one.
          for (let index = first; index < end; index++) {
            output.data[index] = roundHalfAway((sums[index] - zeroPoint * count) / count) + zeroPoint;
          }
        };
    return [reduce(input, reduced, sums, (sum, element) => sum + element), { units: sums.length, compute: finish }];
  },
});
