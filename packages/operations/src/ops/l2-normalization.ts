/**
 * L2_NORMALIZATION along one axis. Before HAL 1.2 inputs have rank 4 and the axis is the last one; a slice of zeros stays
 * zero (HAL 1.3; undefined before).
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { clamp, roundHalfAway } from "../fixed-point.ts";
import { int32, optional, tensor } from "../params.ts";
import { resolveAxis } from "../shape.ts";
import { integerRange, isFloat, type OutputTensor } from "../tensor.ts";
import { fixedOutputQuantisation } from "./_fixed-quantisation.ts";
import { computeLanes, lanesOf, type Pass } from "./_lanes.ts";
import { widen } from "./_widen.ts";

/** Least length of a float slice; a shorter one is divided by this. */
const LEAST_LENGTH = 1e-6;

export const l2Normalization = defineOperation({
  name: "L2_NORMALIZATION",
  code: OperationType.L2_NORMALIZATION,
  summary: "Divides by the length of the slice along an axis: x / √(Σ x²).",
  params: [tensor("input"), optional("1.2", int32("axis"), -1)],
  outputs: [tensor("output")],
  types: [
    ["1.0", "TENSOR_FLOAT32", "TENSOR_FLOAT32"],
    ["1.2", "TENSOR_FLOAT16", "TENSOR_FLOAT16"],
    ["1.2", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM"],
    ["1.3", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT8_ASYMM_SIGNED"],
  ],
  ranks: { input: [1, 4] },
  work: "functionElement",
  since: ({ input }) => (input.dimensions.length === 4 ? undefined : "1.2"),
  infer({ input, axis }) {
    resolveAxis(axis, input.dimensions.length);
    return { output: { dimensions: input.dimensions, ...fixedOutputQuantisation(input.type, 1 / 128, 128) } };
  },
  reference({ input, axis }, { output }) {
    const lanes = lanesOf(input.dimensions, resolveAxis(axis, input.dimensions.length));
    const values = widen(input);
    return [...values.phases, computeLanes(lanes, 8, normaliseLanes(values.data, output))];
  },
});

/** y = x / √Σ x² */
function normaliseLanes(x: Float64Array, output: OutputTensor): Pass[] {
  const { type, data, scale, zeroPoint } = output;
  const float = isFloat(type);
  const [least, greatest] = float ? [0, 0] : integerRange(type);
  return [
    ({ from, to, step }, [before = 0]) => {
      let sum = before;
      for (let at = from; at < to; at += step) sum += x[at] ** 2;
      return sum;
    },
    ({ from, to, step }, [sum]) => {
      // Quantised lengths are whole numbers' roots: 0 or at least 1.
      const length = Math.max(Math.sqrt(sum), LEAST_LENGTH);
      for (let at = from; at < to; at += step) {
        const value = x[at] / length;
        data[at] = float ? value : clamp(roundHalfAway(value / scale) + zeroPoint, least, greatest);
      }
    },
  ];
}
