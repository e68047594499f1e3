/**
 * SOFTMAX with a 16-bit result, of more than 4 axes, and with any quantisation of an 8-bit result.
 */
import { type Phase, resolveAxis } from "@nnhal/operations";
import { ensure } from "@nnhal/operations/authoring";
import { boundsOf, type Lanes, lanesOf } from "@nnhal/operations/kernels";
import { type AnyOutput, type AnyTensor, readerOf, withQuantisation, writerOf } from "../_elements.ts";
import { anyRank } from "../_elementwise.ts";
import { activationTypes } from "../_types.ts";
import { wider } from "../_wider.ts";
import { tfliteTypes } from "../types.ts";
import { ensureFractions } from "./_fractions.ts";
import { softmax16 } from "./_softmax16.ts";

export const softmax = wider("SOFTMAX", {
  from: "TENSOR_FLOAT32",
  types: activationTypes,
  rows: [
    ["1.2", "TENSOR_FLOAT16", "FLOAT16", "TENSOR_FLOAT16"],
    ["1.2", "TENSOR_QUANT8_ASYMM", "FLOAT32", "TENSOR_QUANT16_SYMM"],
    ["1.2", "TENSOR_QUANT8_ASYMM_SIGNED", "FLOAT32", "TENSOR_QUANT16_SYMM"],
    ["1.2", "TENSOR_QUANT8_ASYMM_SIGNED", "FLOAT32", tfliteTypes.TENSOR_QUANT16_ASYMM_SIGNED],
  ],
  ranks: { input: anyRank },
  infer({ input, beta }) {
    ensure(beta > 0, () => `beta: expected a number > 0, got ${beta}`);
    return { output: { dimensions: input.dimensions } };
  },
  reference({ input, beta, axis }, { output }) {
    const lanes = lanesOf(input.dimensions, resolveAxis(axis, input.dimensions.length));
    const is16 = input.type === "TENSOR_QUANT16_SYMM";
    if (is16) ensureFractions(output);
    const compute = is16
      ? softmax16(input, beta, lanes, output)
      : realSoftmax(input, beta, lanes, withQuantisation(output));
    return { units: lanes.count, cost: 16 * lanes.length, compute };
  },
});

/** y = exp(beta · (x − max x)) / Σ exp(beta · (x − max x)) */
function realSoftmax(input: AnyTensor, beta: number, lanes: Lanes, output: AnyOutput): Phase["compute"] {
  const [read, write] = [readerOf(input), writerOf(output)];
  const exponentials = new Float64Array(lanes.length);
  const { step } = lanes;
  return (first, end) => {
    for (let lane = first; lane < end; lane++) {
      const [start, last] = boundsOf(lanes, lane);
      let greatest = Number.NEGATIVE_INFINITY;
      for (let at = start; at < last; at += step) greatest = Math.max(greatest, read(at));
      let sum = 0;
      for (let at = start, index = 0; at < last; at += step, index++) {
        exponentials[index] = Math.exp((read(at) - greatest) * beta);
        sum += exponentials[index];
      }
      for (let at = start, index = 0; at < last; at += step, index++) write(at, exponentials[index] / sum);
    }
  };
}
