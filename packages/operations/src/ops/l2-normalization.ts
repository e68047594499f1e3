/**
 * L2_NORMALIZATION along one axis. Before HAL 1.2 inputs have rank 4 and the axis is the last one; a slice of zeros stays
 * zero (HAL 1.3; undefined before).
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { clamp, roundHalfAway } from "../fixed-point.ts";
import { int32, optional, tensor } from "../params.ts";
import { extentProduct, resolveAxis } from "../shape.ts";
import { integerRange, isFloat } from "../tensor.ts";
import { pacer } from "./_chunks.ts";
import { fixedOutputQuantisation } from "./_fixed-quantisation.ts";
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
  *reference({ input, axis }, { output }) {
    const along = resolveAxis(axis, input.dimensions.length);
    const inner = extentProduct(input.dimensions, along + 1);
    const slice = input.dimensions[along] * inner;
    const values = yield* widen(input);
    const float = isFloat(output.type);
    const [least, greatest] = float ? [0, 0] : integerRange(output.type);
    const isTime = pacer();
    for (let start = 0; start < values.length; start += slice) {
      for (let column = start; column < start + inner; column++) {
        let sum = 0;
        for (let at = column; at < start + slice; at += inner) {
          sum += values[at] ** 2;
          if (isTime(1)) yield;
        }
        // Quantised lengths are whole numbers' roots: 0 or at least 1.
        const length = Math.max(Math.sqrt(sum), LEAST_LENGTH);
        for (let at = column; at < start + slice; at += inner) {
          const value = values[at] / length;
          output.data[at] = float
            ? value
            : clamp(roundHalfAway(value / output.scale) + output.zeroPoint, least, greatest);
          if (isTime(1)) yield;
        }
      }
    }
  },
});
