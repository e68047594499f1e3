/**
 * SOFTMAX along one axis. Before HAL 1.2 inputs have rank 2 or 4 and the axis is the last one. A quantised output has
 * scale 1/256 and the least value as its zero point.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { clamp, roundingDivideByPowerOfTwo, saturatingRoundingDoublingHighMultiply } from "../fixed-point.ts";
import { fixedPoint32, reciprocal } from "../fixed-point-functions.ts";
import { int32, optional, scalar, tensor } from "../params.ts";
import { resolveAxis } from "../shape.ts";
import { integerRange, isFloat, type OutputTensor, type Tensor, type TensorData } from "../tensor.ts";
import { fixedOutputQuantisation } from "./_fixed-quantisation.ts";
import { addExponentials, computeLanes, greatestOf, type Lanes, lanesOf, type Pass, type Piece } from "./_lanes.ts";
import { softmaxExponentials } from "./_softmax-exponentials.ts";

export const softmax = defineOperation({
  name: "SOFTMAX",
  code: OperationType.SOFTMAX,
  summary: "exp(beta · x) along an axis, divided by its sum.",
  params: [tensor("input"), scalar("beta"), optional("1.2", int32("axis"), -1)],
  outputs: [tensor("output")],
  types: [
    ["1.0", "TENSOR_FLOAT32", "FLOAT32", "TENSOR_FLOAT32"],
    ["1.2", "TENSOR_FLOAT16", "FLOAT16", "TENSOR_FLOAT16"],
    ["1.0", "TENSOR_QUANT8_ASYMM", "FLOAT32", "TENSOR_QUANT8_ASYMM"],
    ["1.3", "TENSOR_QUANT8_ASYMM_SIGNED", "FLOAT32", "TENSOR_QUANT8_ASYMM_SIGNED"],
  ],
  ranks: { input: [1, 4] },
  work: "functionElement",
  since: ({ input }) => ([0, 2, 4].includes(input.dimensions.length) ? undefined : "1.2"),
  infer({ input, beta, axis }) {
    resolveAxis(axis, input.dimensions.length);
    ensure(beta > 0, () => `beta: expected a number > 0, got ${beta}`);
    return { output: { dimensions: input.dimensions, ...fixedOutputQuantisation(input.type, 1 / 256, 0) } };
  },
  reference({ input, beta, axis }, { output }) {
    const lanes = lanesOf(input.dimensions, resolveAxis(axis, input.dimensions.length));
    const passes = isFloat(input.type)
      ? softmaxFloats(input.data, beta, lanes, output.data)
      : softmaxQuantised(input, beta, output);
    return computeLanes(lanes, 16, passes);
  },
});

/** y = exp(beta · (x − max x)) / Σ exp(beta · (x − max x)) */
function softmaxFloats(x: TensorData, beta: number, { length }: Lanes, y: TensorData): Pass[] {
  const exponentials = new Float64Array(length);
  return [
    (piece, [greatest]) => greatestOf(x, piece, greatest),
    (piece, [greatest, sum]) => addExponentials(x, beta, greatest, piece, sum, exponentials),
    (piece, [, sum]) => divide(exponentials, sum, piece, y),
  ];
}

/** y = x / divisor */
function divide(x: Float64Array, divisor: number, { from, to, step, start }: Piece, y: TensorData): undefined {
  for (let at = from, index = (from - start) / step; at < to; at += step, index++) y[at] = x[index] / divisor;
}

/** The same in the reference's fixed point: exponents with 5 integer bits, the sum with 12. */
function softmaxQuantised({ data, scale }: Tensor, beta: number, output: OutputTensor): Pass[] {
  const sumBits = 12;
  const exponentials = softmaxExponentials(beta * scale);
  const parts = exponentials.map((exponential) => fixedPoint32.rescale(exponential, 0, sumBits));
  const [least, most] = integerRange(output.type);
  return [
    (piece, [greatest = least]) => greatestOf(data, piece, greatest),
    ({ from, to, step }, [greatest, before = 0]) => {
      let sum = before;
      for (let at = from; at < to; at += step) sum += parts[greatest - data[at]];
      return sum;
    },
    ({ from, to, step }, [greatest, sum]) => {
      const { mantissa, shift } = reciprocal(sum, sumBits);
      // Shares below 2^-9 are 0 in units of 1/256.
      const unitShift = 31 - 8 - shift;
      for (let at = from; at < to; at += step) {
        const share = saturatingRoundingDoublingHighMultiply(mantissa, exponentials[greatest - data[at]]);
        const units = unitShift > 31 ? 0 : roundingDivideByPowerOfTwo(share, unitShift);
        output.data[at] = clamp(units + output.zeroPoint, least, most);
      }
    },
  ];
}
