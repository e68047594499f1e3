/**
 * Operators that keep elements within bounds, or make them smaller outside.
 */

import { FusedActivationFunc } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { clamp, roundHalfEven } from "../fixed-point.ts";
import { float32, tensor } from "../params.ts";
import type { Phase } from "../phases.ts";
import type { AnyOutput, AnyTensor } from "./_elements.tflite.ts";
import { mapElements } from "./_elementwise.tflite.ts";
import { isScaled16, mapScaled16, scaling16 } from "./_scaled16.tflite.ts";
import { byteTableOf, mapByTable } from "./_table.tflite.ts";
import { activationTypes } from "./_types.tflite.ts";
import { unary, widerUnary } from "./_unary.tflite.ts";
import { wider } from "./_wider.tflite.ts";
import { elu } from "./elu.ts";
import { relu } from "./relu.ts";
import { relu1 } from "./relu1.ts";
import { relu6 } from "./relu6.ts";

const identity = (value: number) => value;

/** Computes a rectifier; `activation` is a fused activation code. */
function rectify(input: AnyTensor, output: AnyOutput, activation: number): Phase {
  return mapElements(input, output, { real: identity }, activation);
}

/** The operators. */
export const rectifiers = [
  // RELU of 16-bit elements and floats, of more than 4 axes, and with a separate quantisation of the result.
  widerUnary(relu, [...activationTypes, "TENSOR_FLOAT16"], (input, output) => {
    if (!isScaled16(input, output)) return rectify(input, output, FusedActivationFunc.RELU);
    const scaled = scaling16(input.scale, 1, output.scale);
    return mapScaled16(input, output, (element) => Math.max(scaled(element), 0));
  }),
  // RELU1, which .tflite calls RELU_N1_TO_1, of more than 4 axes and with a separate quantisation of the result.
  widerUnary(relu1, ["TENSOR_FLOAT32", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED"], (input, output) =>
    rectify(input, output, FusedActivationFunc.RELU1),
  ),
  // RELU6 of 16-bit elements and floats, of more than 4 axes, and with a separate quantisation of the result.
  widerUnary(relu6, [...activationTypes, "TENSOR_FLOAT16"], (input, output) =>
    rectify(input, output, FusedActivationFunc.RELU6),
  ),
  unary(
    "RELU_0_TO_1",
    1152,
    "x within [0, 1].",
    ["TENSOR_FLOAT32", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED"],
    { real: (value) => clamp(value, 0, 1) },
  ),
  // ELU of quantised elements. Halves go to the even element, as in XNNPACK, which computes this operator in TensorFlow Lite.
  wider(elu, {
    from: "TENSOR_FLOAT32",
    types: ["TENSOR_QUANT8_ASYMM_SIGNED"],
    reference: ({ input, alpha }, { output }) => {
      const real = (value: number) => (value < 0 ? alpha * Math.expm1(value) : value);
      return mapByTable(input, output, byteTableOf(input, output, real, roundHalfEven));
    },
  }),
  defineOperation({
    name: "LEAKY_RELU",
    code: 1098,
    summary: "x where x > 0, else alpha · x.",
    params: [tensor("input"), float32("alpha")],
    outputs: [tensor("output")],
    types: activationTypes.map((type) => ["1.2", type, type] as const),
    infer: ({ input }) => ({ output: { dimensions: input.dimensions } }),
    reference({ input, alpha }, { output }) {
      if (!isScaled16(input, output)) {
        return mapElements(input, output, { real: (value) => (value > 0 ? value : alpha * value) });
      }
      const [above, below] = [1, alpha].map((factor) => scaling16(input.scale, factor, output.scale));
      return mapScaled16(input, output, (element) => (element >= 0 ? above : below)(element));
    },
  }),
] as const;
