/**
 * SOFTMAX with a 16-bit result, of more than 4 axes, and with any quantisation of an 8-bit result.
 */

import { ensure } from "../fail.ts";
import { resolveAxis } from "../shape.ts";
import { tfliteTypes } from "../tflite-types.ts";
import { type AnyOutput, type AnyTensor, readerOf, withQuantisation, writerOf } from "./_elements.tflite.ts";
import { anyRank } from "./_elementwise.tflite.ts";
import { ensureFractions } from "./_fractions.tflite.ts";
import { computeLanes, type Lanes, lanesOf, type Pass } from "./_lanes.ts";
import { softmax16 } from "./_softmax16.tflite.ts";
import { activationTypes } from "./_types.tflite.ts";
import { wider } from "./_wider.tflite.ts";
import { softmax as base } from "./softmax.ts";

export const softmax = wider(base, {
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
    const passes = is16 ? softmax16(input, beta, output) : realSoftmax(input, beta, lanes, withQuantisation(output));
    return computeLanes(lanes, 16, passes);
  },
});

/** y = exp(beta · (x − max x)) / Σ exp(beta · (x − max x)) */
function realSoftmax(input: AnyTensor, beta: number, { length }: Lanes, output: AnyOutput): Pass[] {
  const [read, write] = [readerOf(input), writerOf(output)];
  const exponentials = new Float64Array(length);
  return [
    ({ from, to, step }, [before = Number.NEGATIVE_INFINITY]) => {
      let greatest = before;
      for (let at = from; at < to; at += step) greatest = Math.max(greatest, read(at));
      return greatest;
    },
    ({ from, to, step, start }, [greatest, before = 0]) => {
      let sum = before;
      for (let at = from, index = (from - start) / step; at < to; at += step, index++) {
        exponentials[index] = Math.exp((read(at) - greatest) * beta);
        sum += exponentials[index];
      }
      return sum;
    },
    ({ from, to, step, start }, [, sum]) => {
      for (let at = from, index = (from - start) / step; at < to; at += step, index++) {
        write(at, exponentials[index] / sum);
      }
    },
  ];
}
