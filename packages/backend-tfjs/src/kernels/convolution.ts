/**
 * Convolutions and FULLY_CONNECTED. Weights are converted to the layout of tfjs once. Bias and activation are fused if tfjs can.
 */
import type { KernelTensor } from "@nnhal/backend";
import { BIAS_UNIT, divideBias, divideSums, whyIndivisible } from "@nnhal/backend/float32";
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
import {
  deriveTensor,
  firstOf,
  floatKernel,
  isTensorInfo,
  type Read,
  rank2,
  rank4,
  type Setup,
  storedKernel,
} from "./_kernel.ts";
import { activate, activateUnfused, centre, fusable, isQuantised } from "./_quantised.ts";
import { computeSliding, type Dilations, type Strides } from "./_sliding.ts";

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
  /** True if the sums are those of q − zeroPoint. */
  readonly centres: boolean;
}

interface One {
  readonly output: TensorInfo;
}

/** The weights among the arguments. */
interface Weights<Args> {
  readonly name: "filter" | "weights";
  /** See `ProductOperands`. */
  readonly axis: number;
  of(args: Args): KernelTensor;
  replace(args: Args, weights: KernelTensor): Args;
}

/**
 * Creates a kernel from its sums. For quantised tensors these are sums of the whole numbers q − zeroPoint, which are exact: see
 * `wholeSums`. They are scaled and rounded once, ties to even as in the reference, and bounded by the activation.
 */
function summingKernel<Args extends Summed>(
  prepare: (args: Args, output: TensorInfo, setup: SummingSetup) => Accumulate,
  weights: Weights<Args>,
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
    refuse({ input, [weights.name]: own, bias }) {
      if (!isTensorInfo(input) || !isTensorInfo(own) || !isTensorInfo(bias)) return undefined;
      return whyIndivisible({ input, weights: own, axis: weights.axis }, bias);
    },
    prepare(args: Args, { output }: One, setup) {
      const { input, activation } = args;
      const sum = wholeSums(args, weights, setup, (given, own) => prepare(given, output, own));
      const units = unitsOf(input, weights.of(args), args.bias);
      const multipliers = setup.keep(tf.tensor1d(units.map((unit) => unit / output.scale)));
      const [least, greatest] = quantisedActivationRange(activation, output);
      return (read) => {
        const rounded = tf.add(tf.round(tf.mul(sum(read), multipliers)), output.zeroPoint);
        return fromNhwc(tf.clipByValue(rounded, least, greatest), layout(args));
      };
    },
  });
  return firstOf(float, quantised);
}

/**
 * Sums of the whole numbers q − zeroPoint, exact until they are rounded to float32. If some can go beyond 2^24, the weights are divided into
 * digits, and the bias into two parts: see `SumParts`.
 */
function wholeSums<Args extends Summed>(
  args: Args,
  weights: Weights<Args>,
  setup: Setup,
  prepare: (args: Args, setup: SummingSetup) => Accumulate,
): (read: Read) => tf.Tensor {
  const own = weights.of(args);
  const centring: SummingSetup = {
    ...setup,
    centres: true,
    constant(tensor) {
      const stored = setup.constant(tensor);
      return stored && centre(stored, tensor);
    },
  };
  const parts = divideSums({ input: args.input, weights: own, axis: weights.axis }, args.bias);
  if (parts === undefined) {
    const accumulate = prepare(args, centring);
    return (read) => accumulate((tensor) => centre(read(tensor), tensor), "linear");
  }
  const { base = 1, places = 1, constants } = parts.digits ?? {};
  const start = args.bias.data && divideBias(args.bias.data);
  const accumulates = Array.from({ length: places }, (_, place) => {
    const digits = constants?.[place];
    const part = parts.digits === undefined ? own : { ...own, zeroPoint: 0, ...(digits && { data: digits }) };
    const zeros = place === 0 ? undefined : new Float32Array(args.bias.dimensions[0]);
    const low = zeros ?? start?.low;
    const bias = { ...args.bias, ...(low && { data: low }) };
    const accumulate = prepare(weights.replace({ ...args, bias }, part), {
      ...centring,
      constant(tensor) {
        if (tensor.data instanceof Float32Array) return tf.tensor(tensor.data, [...tensor.dimensions]);
        return centring.constant(tensor);
      },
    });
    return (read: Read) =>
      accumulate((tensor) => {
        if (tensor === bias) return lowOf(read(tensor));
        const whole = centre(read(tensor), tensor);
        return tensor === part && part !== own ? digitAt(place, centre(whole, own), base, places) : whole;
      }, "linear");
  });
  const high = start && setup.keep(tf.tensor1d(start.high));
  return (read) => {
    const sums = accumulates.map((accumulate) => accumulate(read));
    return combineDigits(sums, base, high ?? tf.cast(highOf(read(args.bias)), "float32"));
  };
}

/** The high part of a bias that is not constant: see `divideBias`. The engine has integers of 32 bits. */
function highOf(bias: tf.Tensor): tf.Tensor {
  const units = tf.round(tf.div(tf.cast(bias, "float32"), BIAS_UNIT));
  const within = tf.minimum(units, 2 ** 31 / BIAS_UNIT - 1);
  return tf.mul(tf.cast(within, "int32"), tf.scalar(BIAS_UNIT, "int32"));
}

function lowOf(bias: tf.Tensor): tf.Tensor {
  return tf.sub(bias, highOf(bias));
}

/** The digit at a place of whole numbers, as `divideSums` makes it of constants. */
function digitAt(place: number, whole: tf.Tensor, base: number, places: number): tf.Tensor {
  let others = whole;
  for (let below = 0; below < place; below++) others = tf.round(tf.div(others, base));
  return place === places - 1 ? others : tf.sub(others, tf.mul(tf.round(tf.div(others, base)), base));
}

/**
 * The sums of digits, the lowest first, each times the base to the power of its place, and the high part of the bias. All numbers are exact
 * but the last, or if a sum is beyond 2^28 the last two.
 */
function combineDigits([lowest, ...higher]: readonly tf.Tensor[], base: number, high: tf.Tensor): tf.Tensor {
  if (higher.length === 0) return tf.add(lowest, high);
  let sum = lowest;
  let rest: tf.Tensor = tf.scalar(0);
  let unit = 1;
  for (const next of higher) {
    const carried = tf.floor(tf.mul(sum, 1 / base));
    rest = tf.add(rest, tf.mul(tf.sub(sum, tf.mul(carried, base)), unit));
    sum = tf.add(next, carried);
    unit *= base;
  }
  return tf.add(tf.add(tf.mul(sum, unit), high), rest);
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
    () => `the scale of the bias: expected input scale * filter scale = ${unit}, got ${bias.scale}`,
  );
  return [unit];
}

function biasOf(bias: KernelTensor, setup: Setup): (read: Read) => tf.Tensor1D {
  return deriveTensor(bias, setup, (tensor) => tf.reshape<tf.Rank.R1>(tf.cast(tensor, "float32"), [tensor.size]));
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

/** The filters of convolutions: an output for each coordinate along an axis. */
const filters = <Args extends Convolution>(axis: 0 | 3): Weights<Args> => ({
  name: "filter",
  axis,
  of: ({ filter }) => filter,
  replace: (args, filter) => ({ ...args, filter }),
});

export const conv2d = summingKernel((args: Convolution & Dilations, _, setup) => {
  const { input, nchw } = args;
  const { sliding, shape, before } = computeSliding(args);
  const weights = outputsLast(args.filter, setup, (filter) => shape(rank4(filter)));
  const bias = biasOf(args.bias, setup);
  return (read, activation) => {
    const x = before(toNhwc(read(input), nchw));
    return tf.fused.conv2d({ x, filter: weights(read), bias: bias(read), ...sliding, activation });
  };
}, filters<Convolution & Dilations>(0));

export const depthwiseConv2d = summingKernel((args: Convolution & Dilations, _, setup) => {
  const { input, nchw } = args;
  const { sliding, shape, before } = computeSliding(args);
  const [, height, width, outputs] = args.filter.dimensions;
  const { channels } = imageLayout(input.dimensions, nchw);
  const weights = deriveTensor(args.filter, setup, (filter) =>
    shape(tf.reshape<tf.Rank.R4>(filter, [height, width, channels, outputs / channels])),
  );
  const bias = biasOf(args.bias, setup);
  return (read, activation) => {
    const x = before(toNhwc(read(input), nchw));
    return tf.fused.depthwiseConv2d({ x, filter: weights(read), bias: bias(read), ...sliding, activation });
  };
}, filters<Convolution & Dilations>(3));

export const groupedConv2d = summingKernel((args: Convolution & { readonly groups: number }, _, setup) => {
  const { input, nchw, groups } = args;
  const { sliding, before } = computeSliding({ ...args, dilationWidth: 1, dilationHeight: 1 });
  const [outputs, height, width, depth] = args.filter.dimensions;
  const share = outputs / groups;
  // Weights are split by group once, not sliced in each run.
  const parts = Array.from({ length: groups }, (_, group) => ({
    weights: deriveTensor(args.filter, setup, (filter) => {
      const part = tf.slice(filter, [group * share, 0, 0, 0], [share, height, width, depth]);
      return rank4(tf.transpose(part, [1, 2, 3, 0]));
    }),
    bias: deriveTensor(args.bias, setup, (bias) => {
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
}, filters<Convolution & { readonly groups: number }>(0));

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
  const weights = deriveTensor(args.filter, setup, (filter) => rank4(tf.transpose(filter, [1, 2, 0, 3])));
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
}, filters<Convolution>(0));

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
  { name: "weights", axis: 0, of: ({ weights }) => weights, replace: (args, weights) => ({ ...args, weights }) },
);
