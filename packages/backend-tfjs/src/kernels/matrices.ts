/** Products of stacks of matrices. */
import type { KernelTensor } from "@nnhal/backend";
import { MOST_WHOLE } from "@nnhal/backend/float32";
import { integerRange, type TensorInfo } from "@nnhal/operations";
import * as tf from "@tensorflow/tfjs-core";
import { firstOf, floatKernel, isTensorInfo, only, storedKernel } from "./_kernel.ts";
import { centre, roundAway } from "./_quantised.ts";

interface Matrices {
  readonly x: KernelTensor;
  readonly y: KernelTensor;
  readonly adjX: boolean;
  readonly adjY: boolean;
}

interface One {
  readonly output: TensorInfo;
}

/** The most products of two bytes less their zero points whose sum float32 has exactly. */
const mostProducts = Math.floor(MOST_WHOLE / 255 ** 2);

const ofFloats = floatKernel({
  prepare:
    ({ x, y, adjX, adjY }: Matrices) =>
    (read) =>
      tf.matMul(read(x), read(y), adjX, adjY),
});

/** Exact sums of whole numbers, which are scaled and rounded once. */
const ofBytes = storedKernel({
  accepts: only("TENSOR_QUANT8_ASYMM_SIGNED"),
  refuse({ x, adjX }) {
    if (!isTensorInfo(x)) return undefined;
    const depth = x.dimensions.at(adjX === true ? -2 : -1) ?? 1;
    if (depth <= mostProducts) return undefined;
    return `a sum of ${depth} products is not available for bytes; at most ${mostProducts} are, which float32 has exactly`;
  },
  prepare({ x, y, adjX, adjY }: Matrices, { output }: One) {
    const [least, greatest] = integerRange(output.type);
    const multiplier = (x.scale * y.scale) / output.scale;
    return (read) => {
      const sums = tf.matMul(centre(read(x), x), centre(read(y), y), adjX, adjY);
      return tf.clipByValue(tf.add(roundAway(tf.mul(sums, multiplier)), output.zeroPoint), least, greatest);
    };
  },
});

export const batchMatmul = firstOf(ofFloats, ofBytes);
