/**
 * Convolutions and FULLY_CONNECTED. Weights are converted to the layout of tfjs once. Bias and activation are fused if tfjs can.
 */
import type { KernelTensor } from "@nnhal/backend";
import {
  ensure,
  imageLayout,
  type Padding,
  quantisedActivationRange,
  type TensorInfo,
  transposeMatrix,
} from "@nnhal/operations";
import * as tf from "@tensorflow/tfjs-core";
import { fromNhwc, toNhwc } from "./_image.ts";
import { derived, firstOf, floatKernel, type Read, rank2, rank4, type Setup, storedKernel } from "./_kernel.ts";
import { activate, activateUnfused, centre, fusable, isQuantised } from "./_quantised.ts";
import { type Dilations, type Strides, slidingOf } from "./_sliding.ts";

/** The arguments that all of them have. */
interface Summed {
  readonly input: KernelTensor;
  readonly bias: KernelTensor;
  readonly activation: number;
}

interface Convolution extends Summed, Padding, Strides {
  readonly filter: KernelTensor;
  readonly nchw: boolean;
}

/** Computes the sums with the bias and the fused activation, channels last. */
type Accumulate = (read: Read, activation: "linear" | "relu" | "relu6") => tf.Tensor;

/** The setup of a convolution. */
interface SummingSetup extends Setup {
  /** Whether the sums are those of q − zeroPoint. */
  readonly centres: boolean;
}

interface One {
  readonly output: TensorInfo;
}

/**
 * Creates a kernel from its sums. For quantised tensors these are sums of the whole numbers q − zeroPoint, which are exact in float32 up to
 * 2^24. They are scaled and rounded once, ties to even as in the reference, and bounded by the activation.
 */
function summingKernel<Args extends Summed>(
  prepare: (args: Args, output: TensorInfo, setup: SummingSetup) => Accumulate,
  weightsOf: (args: Args) => KernelTensor,
) {
  const layout = (args: object) => "nchw" in args && args.nchw === true;
  const float = floatKernel({
    prepare(args: Args, { output }: One, setup) {
      const { activation } = args;
      const accumulate = prepare(args, output, { ...setup, centres: false });
      const fused = fusable(activation);
      return (read) => fromNhwc(activateUnfused(accumulate(read, fused), activation), layout(args));
    },
  });
  const quantised = storedKernel({
    accepts: isQuantised,
    prepare(args: Args, { output }: One, setup) {
      const { input, activation } = args;
      const weights = weightsOf(args);
      const accumulate = prepare(args, output, {
        ...setup,
        centres: true,
        constant(tensor) {
          const stored = setup.constant(tensor);
          return stored && centre(stored, tensor);
        },
      });
      const units = unitsOf(input, weights, args.bias);
      const multipliers = setup.keep(tf.tensor1d(units.map((unit) => unit / output.scale)));
      const [least, greatest] = quantisedActivationRange(activation, output);
      return (read) => {
        const sums = accumulate((tensor) => centre(read(tensor), tensor), "linear");
        const rounded = tf.add(tf.round(tf.mul(sums, multipliers)), output.zeroPoint);
        return fromNhwc(tf.clipByValue(rounded, least, greatest), layout(args));
      };
    },
  });
  return firstOf(float, quantised);
}

/** The real value of one unit of the sums: one for each output channel, or one for all. */
function unitsOf(input: TensorInfo, { channelQuant, scale }: TensorInfo, bias: TensorInfo): readonly number[] {
  if (channelQuant !== undefined) {
    const { scales } = channelQuant;
    const [channels] = bias.dimensions;
    ensure(scales.length === channels, () => `the filter has ${scales.length} scales for ${channels} channels`);
    return scales.map((each) => Math.fround(input.scale * each));
  }
  const unit = Math.fround(input.scale * scale);
  ensure(
    Math.abs(unit - bias.scale) <= 1e-6 * Math.min(unit, bias.scale),
    () => `the bias has scale ${bias.scale}, but input scale * filter scale = ${unit} is needed`,
  );
  return [unit];
}

function biasOf(bias: KernelTensor, setup: Setup): (read: Read) => tf.Tensor1D {
  return derived(bias, setup, (tensor) => tf.reshape<tf.Rank.R1>(tf.cast(tensor, "float32"), [tensor.size]));
}

/**
 * The result of `change` on weights whose first axis has been moved to the end: [outputs, ...others] as [...others, outputs]. Constants are
 * transposed and centred here in one pass; the engine would copy them three times.
 */
function outputsLast<T extends tf.Tensor>(
  weights: KernelTensor,
  setup: SummingSetup,
  change: (tensor: tf.Tensor) => T,
): (read: Read) => T {
  const { data, dimensions, zeroPoint } = weights;
  const [outputs, ...others] = dimensions;
  if (data === undefined) {
    const order = [...others.map((_, axis) => axis + 1), 0];
    return (read) => change(tf.transpose(read(weights), order));
  }
  const elements = transposeMatrix(data, outputs, setup.centres ? zeroPoint : 0);
  const kept = change(tf.tensor(elements, [...others, outputs]));
  setup.keep(kept);
  return () => kept;
}

const filterOf = ({ filter }: Convolution) => filter;

export const conv2d = summingKernel((args: Convolution & Dilations, _, setup) => {
  const { input, nchw } = args;
  const { sliding, shape, before } = slidingOf(args);
  const weights = outputsLast(args.filter, setup, (filter) => shape(rank4(filter)));
  const bias = biasOf(args.bias, setup);
  return (read, activation) => {
    const x = before(toNhwc(read(input), nchw));
    return tf.fused.conv2d({ x, filter: weights(read), bias: bias(read), ...sliding, activation });
  };
}, filterOf);

export const depthwiseConv2d = summingKernel((args: Convolution & Dilations, _, setup) => {
  const { input, nchw } = args;
  const { sliding, shape, before } = slidingOf(args);
  const [, height, width, outputs] = args.filter.dimensions;
  const { channels } = imageLayout(input.dimensions, nchw);
  const weights = derived(args.filter, setup, (filter) =>
    shape(tf.reshape<tf.Rank.R4>(filter, [height, width, channels, outputs / channels])),
  );
  const bias = biasOf(args.bias, setup);
  return (read, activation) => {
    const x = before(toNhwc(read(input), nchw));
    return tf.fused.depthwiseConv2d({ x, filter: weights(read), bias: bias(read), ...sliding, activation });
  };
}, filterOf);

export const groupedConv2d = summingKernel((args: Convolution & { readonly groups: number }, _, setup) => {
  const { input, nchw, groups } = args;
  const { sliding, before } = slidingOf({ ...args, dilationWidth: 1, dilationHeight: 1 });
  const [outputs, height, width, depth] = args.filter.dimensions;
  const share = outputs / groups;
  // Weights are split by group once, not sliced in each run.
  const parts = Array.from({ length: groups }, (_, group) => ({
    weights: derived(args.filter, setup, (filter) => {
      const part = tf.slice(filter, [group * share, 0, 0, 0], [share, height, width, depth]);
      return rank4(tf.transpose(part, [1, 2, 3, 0]));
    }),
    bias: derived(args.bias, setup, (bias) => {
      const part = tf.slice(tf.cast(bias, "float32"), [group * share], [share]);
      return tf.reshape<tf.Rank.R1>(part, [share]);
    }),
  }));
  return (read, activation) => {
    const images = tf.split(before(toNhwc(read(input), nchw)), groups, 3);
    const results = parts.map(({ weights, bias }, group) => {
      const x = rank4(images[group]);
      return tf.fused.conv2d({ x, filter: weights(read), bias: bias(read), ...sliding, activation });
    });
    return tf.concat(results, 3);
  };
}, filterOf);

export const transposeConv2d = summingKernel((args: Convolution, output, setup) => {
  const { input, nchw, paddingTop, paddingLeft, strideHeight, strideWidth } = args;
  const [outputs, filterHeight, filterWidth] = args.filter.dimensions;
  const from = imageLayout(input.dimensions, nchw);
  const to = imageLayout(output.dimensions, nchw);
  // The extents that the filters reach. Padding removes a border; negative padding adds cells that no filter reaches.
  const height = (from.height - 1) * strideHeight + filterHeight;
  const width = (from.width - 1) * strideWidth + filterWidth;
  const pads: [number, number][] = [
    [0, 0],
    [0, Math.max(0, paddingTop + to.height - height)],
    [0, Math.max(0, paddingLeft + to.width - width)],
    [0, 0],
  ];
  const isPadded = pads.flat().some((extent) => extent > 0);
  // [outputs, height, width, inputs] to [height, width, outputs, inputs]
  const weights = derived(args.filter, setup, (filter) => rank4(tf.transpose(filter, [1, 2, 0, 3])));
  const bias = biasOf(args.bias, setup);
  return (read, activation) => {
    const x = toNhwc(read(input), nchw);
    const shape: [number, number, number, number] = [from.batches, height, width, outputs];
    const whole = tf.conv2dTranspose(x, weights(read), shape, [strideHeight, strideWidth], "valid");
    const padded = isPadded ? tf.pad(whole, pads) : whole;
    const part = tf.slice(padded, [0, paddingTop, paddingLeft, 0], [to.batches, to.height, to.width, outputs]);
    const sums = tf.add(part, bias(read));
    return activation === "linear" ? sums : activate(sums, args.activation);
  };
}, filterOf);

interface FullyConnected extends Summed {
  readonly weights: KernelTensor;
}

export const fullyConnected = summingKernel(
  (args: FullyConnected, _, setup) => {
    const size = args.weights.dimensions[1];
    const weights = outputsLast(args.weights, setup, rank2);
    const bias = biasOf(args.bias, setup);
    return (read, activation) => {
      const a = tf.reshape<tf.Rank.R2>(read(args.input), [-1, size]);
      return tf.fused.matMul({ a, b: weights(read), bias: bias(read), activation });
    };
  },
  ({ weights }) => weights,
);
