/**
 * Convolutions and FULLY_CONNECTED: weights are brought into the layout of tfjs once, bias and activation are fused where tfjs can.
 */
import type { KernelTensor } from "@nnhal/backend";
import { dilatedExtent, implicitPadding, type Padding, PaddingScheme, type TensorInfo } from "@nnhal/operations";
import * as tf from "@tensorflow/tfjs-core";
import { fromNhwc, type Space, spaceOf, toNhwc } from "./_image.ts";
import { derived, type Read, rank2, rank4, realKernel, type Setup } from "./_kernel.ts";
import { activate, activateUnfused, fusable, isQuantised } from "./_quantised.ts";

interface Weighted {
  readonly input: KernelTensor;
  readonly filter: KernelTensor;
  readonly bias: KernelTensor;
  readonly activation: number;
}

interface Strides {
  readonly strideWidth: number;
  readonly strideHeight: number;
}

interface Dilations {
  readonly dilationWidth: number;
  readonly dilationHeight: number;
}

type Convolution = Weighted & Padding & Strides & { readonly nchw: boolean };

/** How tfjs is told the padding. What it cannot be told is put around the image before. */
interface Pads {
  readonly pad: "valid" | "same" | number;
  before(image: tf.Tensor4D): tf.Tensor4D;
}

function padsOf(
  padding: Padding,
  { height, width }: Space,
  filter: readonly number[],
  sliding: Strides & Dilations,
): Pads {
  const { paddingTop, paddingBottom, paddingLeft, paddingRight } = padding;
  const given = [paddingTop, paddingBottom, paddingLeft, paddingRight];
  const before = (image: tf.Tensor4D) => image;
  const [filterHeight, filterWidth] = [
    dilatedExtent(filter[1], sliding.dilationHeight),
    dilatedExtent(filter[2], sliding.dilationWidth),
  ];
  const same = [
    ...implicitPadding(PaddingScheme.SAME, height, sliding.strideHeight, filterHeight),
    ...implicitPadding(PaddingScheme.SAME, width, sliding.strideWidth, filterWidth),
  ];
  if (given.every((extent) => extent === 0)) return { pad: "valid", before };
  if (given.every((extent, side) => extent === same[side])) return { pad: "same", before };
  if (given.every((extent) => extent === paddingTop)) return { pad: paddingTop, before };
  const pads: [number, number][] = [
    [0, 0],
    [paddingTop, paddingBottom],
    [paddingLeft, paddingRight],
    [0, 0],
  ];
  return { pad: "valid", before: (image) => tf.pad(image, pads) };
}

/** The bias in real numbers; a quantised one counts in units of input scale · filter scale, channel by channel. */
function biasOf(bias: KernelTensor, input: TensorInfo, filter: TensorInfo, setup: Setup): (read: Read) => tf.Tensor1D {
  const scales = isQuantised(input.type) && (filter.channelQuant?.scales ?? [filter.scale]);
  return derived(bias, setup, (tensor) => {
    const real = scales ? tf.mul(tensor, tf.tensor1d(scales.map((scale) => scale * input.scale))) : tf.clone(tensor);
    return tf.reshape<tf.Rank.R1>(real, [real.size]);
  });
}

/** tfjs takes strides or dilations, not both: then the filter's cells are spread apart, with zeros between them. */
function spread(filter: tf.Tensor4D, { dilationHeight, dilationWidth }: Dilations): tf.Tensor4D {
  const [height, width, inputs, outputs] = filter.shape;
  const rows = tf.pad(tf.reshape(filter, [height, 1, width * inputs * outputs]), [
    [0, 0],
    [0, dilationHeight - 1],
    [0, 0],
  ]);
  const tall = height * dilationHeight;
  const columns = tf.pad(tf.reshape(rows, [tall * width, 1, inputs * outputs]), [
    [0, 0],
    [0, dilationWidth - 1],
    [0, 0],
  ]);
  const wide = width * dilationWidth;
  const all = tf.reshape<tf.Rank.R4>(columns, [tall, wide, inputs, outputs]);
  return tf.slice4d(all, [0, 0, 0, 0], [tall - dilationHeight + 1, wide - dilationWidth + 1, inputs, outputs]);
}

/** Strides, dilations and the change to the filter that bring a sliding window into what tfjs takes. */
function slidingOf(args: Strides & Dilations & Convolution) {
  const { strideHeight, strideWidth, dilationHeight, dilationWidth } = args;
  const isBoth = strideHeight * strideWidth > 1 && dilationHeight * dilationWidth > 1;
  const strides: [number, number] = [strideHeight, strideWidth];
  const dilations: [number, number] = isBoth ? [1, 1] : [dilationHeight, dilationWidth];
  const shape = (filter: tf.Tensor4D) => (isBoth ? spread(filter, args) : filter);
  const { pad, before } = padsOf(args, spaceOf(args.input.dimensions, args.nchw), args.filter.dimensions, args);
  return { sliding: { strides, dilations, pad }, shape, before };
}

export const conv2d = realKernel({
  prepare(args: Convolution & Dilations, _, setup) {
    const { input, activation, nchw } = args;
    const { sliding, shape, before } = slidingOf(args);
    // [outputs, height, width, inputs] to [height, width, inputs, outputs]
    const filterOf = derived(args.filter, setup, (filter) => shape(rank4(tf.transpose(filter, [1, 2, 3, 0]))));
    const bias = biasOf(args.bias, input, args.filter, setup);
    const fused = fusable(activation);
    return (read) => {
      const x = before(toNhwc(read(input), nchw));
      const result = tf.fused.conv2d({ x, filter: filterOf(read), bias: bias(read), ...sliding, activation: fused });
      return fromNhwc(activateUnfused(result, activation), nchw);
    };
  },
});

export const depthwiseConv2d = realKernel({
  prepare(args: Convolution & Dilations & { readonly depthMultiplier: number }, _, setup) {
    const { input, activation, nchw } = args;
    const { sliding, shape, before } = slidingOf(args);
    const [, height, width, outputs] = args.filter.dimensions;
    const channels = spaceOf(input.dimensions, nchw).channels;
    const filterOf = derived(args.filter, setup, (filter) =>
      shape(tf.reshape<tf.Rank.R4>(filter, [height, width, channels, outputs / channels])),
    );
    const bias = biasOf(args.bias, input, args.filter, setup);
    const fused = fusable(activation);
    return (read) => {
      const x = before(toNhwc(read(input), nchw));
      const filter = filterOf(read);
      const result = tf.fused.depthwiseConv2d({ x, filter, bias: bias(read), ...sliding, activation: fused });
      return fromNhwc(activateUnfused(result, activation), nchw);
    };
  },
});

export const groupedConv2d = realKernel({
  prepare(args: Convolution & { readonly groups: number }, _, setup) {
    const { input, activation, nchw, groups } = args;
    const { sliding, before } = slidingOf({ ...args, dilationWidth: 1, dilationHeight: 1 });
    const [outputs, height, width, depth] = args.filter.dimensions;
    const share = outputs / groups;
    const bias = biasOf(args.bias, input, args.filter, setup);
    // One filter for each group: a slice would otherwise be taken at every run.
    const filters = Array.from({ length: groups }, (_, group) =>
      derived(args.filter, setup, (filter) => {
        const part = tf.slice(filter, [group * share, 0, 0, 0], [share, height, width, depth]);
        return rank4(tf.transpose(part, [1, 2, 3, 0]));
      }),
    );
    const biases = filters.map((_, group) => (read: Read) => tf.slice1d(bias(read), group * share, share));
    const fused = fusable(activation);
    return (read) => {
      const parts = tf.split(before(toNhwc(read(input), nchw)), groups, 3).map((x, group) =>
        tf.fused.conv2d({
          x: rank4(x),
          filter: filters[group](read),
          bias: biases[group](read),
          ...sliding,
          activation: fused,
        }),
      );
      return fromNhwc(activateUnfused(parts.length === 1 ? parts[0] : tf.concat(parts, 3), activation), nchw);
    };
  },
});

export const transposeConv2d = realKernel({
  prepare(args: Convolution, { output }: { readonly output: TensorInfo }, setup) {
    const { input, activation, nchw, paddingTop, paddingLeft, strideHeight, strideWidth } = args;
    const [outputs, filterHeight, filterWidth] = args.filter.dimensions;
    const from = spaceOf(input.dimensions, nchw);
    const to = spaceOf(output.dimensions, nchw);
    // The whole of what the filters reach; padding cuts it off, or, negative, adds what no filter reaches.
    const height = (from.height - 1) * strideHeight + filterHeight;
    const width = (from.width - 1) * strideWidth + filterWidth;
    const below = Math.max(0, paddingTop + to.height - height);
    const right = Math.max(0, paddingLeft + to.width - width);
    // [outputs, height, width, inputs] to [height, width, outputs, inputs]
    const filterOf = derived(args.filter, setup, (filter) => rank4(tf.transpose(filter, [1, 2, 0, 3])));
    const bias = biasOf(args.bias, input, args.filter, setup);
    return (read) => {
      const x = toNhwc(read(input), nchw);
      const shape: [number, number, number, number] = [from.batches, height, width, outputs];
      const strides: [number, number] = [strideHeight, strideWidth];
      let result: tf.Tensor = tf.conv2dTranspose(x, filterOf(read), shape, strides, "valid");
      if (below + right > 0) {
        result = tf.pad(result, [
          [0, 0],
          [0, below],
          [0, right],
          [0, 0],
        ]);
      }
      result = tf.slice(result, [0, paddingTop, paddingLeft, 0], [to.batches, to.height, to.width, outputs]);
      return fromNhwc(activate(tf.add(result, bias(read)), activation), nchw);
    };
  },
});

export const fullyConnected = realKernel({
  prepare(args: Omit<Weighted, "filter"> & { readonly weights: KernelTensor }, _, setup) {
    const { input, weights, activation } = args;
    const size = weights.dimensions[1];
    const weightsOf = derived(weights, setup, (tensor) => rank2(tf.transpose(tensor)));
    const bias = biasOf(args.bias, input, weights, setup);
    const fused = fusable(activation);
    return (read) => {
      const a = tf.reshape<tf.Rank.R2>(read(input), [-1, size]);
      return activateUnfused(
        tf.fused.matMul({ a, b: weightsOf(read), bias: bias(read), activation: fused }),
        activation,
      );
    };
  },
});
