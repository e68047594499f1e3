/** Softmax and normalisations along an axis. */

import type { KernelTensor } from "@nnhal/backend";
import { GREATEST_FLOAT } from "@nnhal/backend/float32";
import { isFloat, resolveAxis, type TensorInfo } from "@nnhal/operations";
import * as tf from "@tensorflow/tfjs-core";
import { fromNhwc, toNhwc } from "./_image.ts";
import { firstOf, floatKernel, storedKernel } from "./_kernel.ts";
import { centre, isQuantised, requantise } from "./_quantised.ts";

interface AlongAxis {
  readonly input: KernelTensor;
  readonly axis: number;
}

interface One {
  readonly output: TensorInfo;
}

/** Computes with the axis last, as tfjs needs it. */
function alongLast(
  { input, axis }: AlongAxis,
  compute: (input: tf.Tensor) => tf.Tensor,
): (input: tf.Tensor) => tf.Tensor {
  const rank = input.dimensions.length;
  const along = resolveAxis(axis, rank);
  if (along === rank - 1) return compute;
  const order = input.dimensions.map((_, place) => place);
  // A swap of two axes is its own inverse.
  [order[along], order[rank - 1]] = [rank - 1, along];
  return (tensor) => tf.transpose(compute(tf.transpose(tensor, order)), order);
}

type Softmax = AlongAxis & { readonly beta: number };

/** `factor`: what a difference of elements is multiplied by. Differences are made first, so that a great factor leaves the greatest element 0. */
function softmaxOf(args: Softmax, factor: number): (input: tf.Tensor) => tf.Tensor {
  return alongLast(args, (input) => {
    if (factor === 1) return tf.softmax(input);
    return tf.softmax(tf.mul(tf.sub(input, tf.max(input, -1, true)), factor));
  });
}

/** On whole numbers if quantised: a scale may be below what float32 keeps of real numbers. */
export const softmax = firstOf(
  floatKernel({
    prepare({ beta, ...args }: Softmax) {
      const compute = softmaxOf({ beta, ...args }, beta);
      return (read) => compute(read(args.input));
    },
  }),
  storedKernel({
    accepts: isQuantised,
    prepare(args: Softmax, { output }: One) {
      const compute = softmaxOf(args, Math.min(args.input.scale * args.beta, GREATEST_FLOAT));
      return (read) => requantise(compute(read(args.input)), output);
    },
  }),
);

export const logSoftmax = floatKernel({
  prepare: ({ input, axis, beta }: AlongAxis & { readonly beta: number }) => {
    const along = resolveAxis(axis, input.dimensions.length);
    // (x − max) · β − log Σ exp((x − max) · β)
    return (read) => {
      const x = read(input);
      const shifted = tf.mul(tf.sub(x, tf.max(x, along, true)), beta);
      return tf.sub(shifted, tf.log(tf.sum(tf.exp(shifted), along, true)));
    };
  },
});

/** The length does not depend on the scale, so whole numbers are as good as the real ones, and as great as they need to be. */
export const l2Normalization = storedKernel({
  accepts: (type) => isFloat(type) || isQuantised(type),
  prepare({ input, axis }: AlongAxis, { output }: One) {
    const along = resolveAxis(axis, input.dimensions.length);
    return (read) => {
      const x = centre(read(input), input);
      return requantise(tf.div(x, tf.maximum(tf.sqrt(tf.sum(tf.square(x), along, true)), 1e-6)), output);
    };
  },
});

interface LocalResponse extends AlongAxis {
  readonly radius: number;
  readonly bias: number;
  readonly alpha: number;
  readonly beta: number;
}

export const localResponseNormalization = floatKernel({
  prepare({ radius, bias, alpha, beta, ...args }: LocalResponse) {
    const compute = alongLast(args, (input) => {
      const extent = input.shape[input.rank - 1];
      const image = tf.reshape<tf.Rank.R4>(input, [1, 1, input.size / extent, extent]);
      const reach = Math.min(radius, extent - 1);
      return tf.reshape(tf.localResponseNormalization(image, reach, bias, alpha, beta), input.shape);
    });
    return (read) => compute(read(args.input));
  },
});

interface Instance {
  readonly input: KernelTensor;
  readonly gamma: number;
  readonly beta: number;
  readonly epsilon: number;
  readonly nchw: boolean;
}

/**
 * The elements without their mean, which is taken off twice: the mean of large elements is rounded, and the mean of what is left is the rest
 * of it.
 */
export function withoutMean(x: tf.Tensor, axes: number | number[]): tf.Tensor {
  const near = tf.sub(x, tf.mean(x, axes, true));
  return tf.sub(near, tf.mean(near, axes, true));
}

export const instanceNormalization = floatKernel({
  prepare({ input, gamma, beta, epsilon, nchw }: Instance) {
    return (read) => {
      const x = toNhwc(read(input), nchw);
      const centred = withoutMean(x, [1, 2]);
      const variance = tf.mean(tf.square(centred), [1, 2], true);
      const result = tf.add(tf.mul(tf.div(centred, tf.sqrt(tf.add(variance, epsilon))), gamma), beta);
      return fromNhwc(result, nchw);
    };
  },
});
