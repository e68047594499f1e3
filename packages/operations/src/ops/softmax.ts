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
import { extentProduct, resolveAxis } from "../shape.ts";
import { integerRange, isFloat, type OutputTensor, type Tensor } from "../tensor.ts";
import { type Pacer, pacer } from "./_chunks.ts";
import { fixedOutputQuantisation } from "./_fixed-quantisation.ts";
import { softmaxExponentials } from "./_softmax-exponentials.ts";

/** Elements first, first + step, … before end: those that add up to 1. Pauses when `isTime` says so. */
type Lane = (first: number, end: number, step: number, isTime: Pacer) => Generator<void, void>;

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
  *reference({ input, beta, axis }, { output }) {
    const reduced = resolveAxis(axis, input.dimensions.length);
    const inner = extentProduct(input.dimensions, reduced + 1);
    const length = input.dimensions[reduced];
    const block = inner * length;
    const lane = isFloat(input.type) ? floatLane(input, beta, output, length) : quantisedLane(input, beta, output);
    const isTime = pacer();
    for (let start = 0; start < input.data.length; start += block) {
      for (let first = start; first < start + inner; first++) {
        yield* lane(first, start + block, inner, isTime);
      }
    }
  },
});

/** exp(beta · (x - max)) / Σ exp(beta · (x - max)) */
function floatLane({ data }: Tensor, beta: number, output: OutputTensor, length: number): Lane {
  const exponentials = new Float64Array(length);
  return function* (first, end, step, isTime) {
    let greatest = Number.NEGATIVE_INFINITY;
    for (let index = first; index < end; index += step) {
      greatest = Math.max(greatest, data[index]);
      if (isTime(1)) yield;
    }
    let sum = 0;
    for (let index = first, at = 0; index < end; index += step) {
      exponentials[at] = Math.exp((data[index] - greatest) * beta);
      sum += exponentials[at++];
      if (isTime(1)) yield;
    }
    for (let index = first, at = 0; index < end; index += step) {
      output.data[index] = exponentials[at++] / sum;
      if (isTime(1)) yield;
    }
  };
}

/** The same in the reference's fixed point: exponents with 5 integer bits, the sum with 12. */
function quantisedLane({ data, scale }: Tensor, beta: number, output: OutputTensor): Lane {
  const sumBits = 12;
  const exponentials = softmaxExponentials(beta * scale);
  const parts = exponentials.map((exponential) => fixedPoint32.rescale(exponential, 0, sumBits));
  const [least, most] = integerRange(output.type);
  return function* (first, end, step, isTime) {
    let greatest = least;
    for (let index = first; index < end; index += step) {
      greatest = Math.max(greatest, data[index]);
      if (isTime(1)) yield;
    }
    let sum = 0;
    for (let index = first; index < end; index += step) {
      sum += parts[greatest - data[index]];
      if (isTime(1)) yield;
    }
    const { mantissa, shift } = reciprocal(sum, sumBits);
    // Shares below 2^-9 are 0 in units of 1/256.
    const unitShift = 31 - 8 - shift;
    for (let index = first; index < end; index += step) {
      const share = saturatingRoundingDoublingHighMultiply(mantissa, exponentials[greatest - data[index]]);
      const units = unitShift > 31 ? 0 : roundingDivideByPowerOfTwo(share, unitShift);
      output.data[index] = clamp(units + output.zeroPoint, least, most);
      if (isTime(1)) yield;
    }
  };
}
