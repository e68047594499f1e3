/**
 * Plausible operands of operations that slide a window over an image or resample it.
 */
import { elementAt, PaddingScheme } from "@nnhal/operations";
import type { Draw, Plausible } from "../wanted.ts";

/** Extents of one image, and whether it is stored as NCHW. */
function drawImage(draw: Draw, channels = draw.integer(1, 4)) {
  const nchw = draw.has("nchw") && draw.chance(0.5);
  const offered = draw.offerShape?.(4);
  if (offered !== undefined) {
    const [batches = 0, ...rest] = offered;
    const [height = 0, width = 0, depth = 0] = nchw ? [...rest.slice(1), ...rest.slice(0, 1)] : rest;
    return { batches, height, width, channels: depth, nchw, dimensions: offered };
  }
  const [batches, height, width] = [draw.extent(), draw.integer(1, 6), draw.integer(1, 6)];
  const dimensions = nchw ? [batches, channels, height, width] : [batches, height, width, channels];
  return { batches, height, width, channels, nchw, dimensions };
}

/**
 * A window along one axis of an image: its cells, dilation and padding, such that it fits. It may be larger than the image, lie wholly in
 * the padding, and its stride may lead beyond the image.
 */
function drawWindow(draw: Draw, extent: number, dilated: boolean) {
  const cells = draw.integer(1, 4);
  const dilation = dilated ? draw.integer(1, 3) : 1;
  const covered = (cells - 1) * dilation + 1;
  const pad = () => (draw.chance(0.5) ? 0 : draw.integer(0, covered));
  const before = pad();
  const after = Math.max(pad(), covered - extent - before);
  const stride = draw.integer(1, draw.chance(0.8) ? 3 : extent + 1);
  return { cells, dilation, before, after, stride, fitsUnpadded: covered <= extent };
}

/** Draws the scalars of a window; those that a form does not have are not read. */
function windowArguments(draw: Draw, height: number, width: number) {
  const dilated = draw.has("dilationHeight");
  const vertical = drawWindow(draw, height, dilated);
  const horizontal = drawWindow(draw, width, dilated);
  return {
    cells: [vertical.cells, horizontal.cells] as const,
    paddingLeft: horizontal.before,
    paddingRight: horizontal.after,
    paddingTop: vertical.before,
    paddingBottom: vertical.after,
    paddingScheme: vertical.fitsUnpadded && horizontal.fitsUnpadded ? draw.integer(1, 2) : PaddingScheme.SAME,
    strideWidth: horizontal.stride,
    strideHeight: vertical.stride,
    dilationWidth: horizontal.dilation,
    dilationHeight: vertical.dilation,
    filterWidth: horizontal.cells,
    filterHeight: vertical.cells,
  };
}

/** Scales of input, filter and bias that go together. */
function accumulatorScales(draw: Draw, filter = "filter") {
  const input = draw.scale();
  const weights = draw.scale();
  const isPerChannel = draw.typeOf(filter) === "TENSOR_QUANT8_SYMM_PER_CHANNEL";
  return { input, weights, bias: isPerChannel || draw.typeOf("bias") !== "TENSOR_INT32" ? 0 : input * weights };
}

const pool: Plausible = (draw) => {
  const { height, width, nchw, dimensions } = drawImage(draw);
  const { cells: _, ...window } = windowArguments(draw, height, width);
  return { input: { dimensions }, nchw, ...window };
};

const convolution =
  (isTransposed: boolean): Plausible =>
  (draw) => {
    const { height, width, channels, nchw, dimensions } = drawImage(draw);
    const { cells, ...window } = windowArguments(draw, height, width);
    const outputs = draw.integer(1, 5);
    const scales = accumulatorScales(draw);
    return {
      input: { dimensions, scale: scales.input },
      filter: { dimensions: [outputs, ...cells, channels], scale: scales.weights },
      bias: { dimensions: [outputs], scale: scales.bias },
      nchw,
      ...window,
      ...(isTransposed && { outputShape: { dimensions: [4], values: dimensions.map((extent) => 2 * extent) } }),
      // Cells that no filter reaches: only behind the result of a transposed convolution may padding be negative.
      ...(isTransposed &&
        draw.chance(0.3) && { paddingRight: -draw.integer(0, 4), paddingBottom: -draw.integer(1, 5) }),
    };
  };

const depthwise: Plausible = (draw) => {
  const { height, width, channels, nchw, dimensions } = drawImage(draw);
  const { cells, ...window } = windowArguments(draw, height, width);
  const depthMultiplier = draw.integer(1, 3);
  const outputs = channels * depthMultiplier;
  const scales = accumulatorScales(draw);
  return {
    input: { dimensions, scale: scales.input },
    filter: { dimensions: [1, ...cells, outputs], scale: scales.weights, channelDim: 3 },
    bias: { dimensions: [outputs], scale: scales.bias },
    depthMultiplier,
    nchw,
    ...window,
  };
};

const group: Plausible = (draw) => {
  const groups = draw.integer(1, 3);
  const depth = draw.integer(1, 3);
  const { height, width, nchw, dimensions } = drawImage(draw, groups * depth);
  const { cells, ...window } = windowArguments(draw, height, width);
  const outputs = groups * draw.integer(1, 3);
  const scales = accumulatorScales(draw);
  return {
    input: { dimensions, scale: scales.input },
    filter: { dimensions: [outputs, ...cells, depth], scale: scales.weights },
    bias: { dimensions: [outputs], scale: scales.bias },
    groups,
    nchw,
    ...window,
  };
};

const resize: Plausible = (draw) => {
  const { nchw, dimensions } = drawImage(draw);
  const mode = draw.integer(0, 2);
  return {
    input: { dimensions },
    width: draw.integer(1, 8),
    height: draw.integer(1, 8),
    widthScale: draw.pick([0.5, 1, 1.25, 2, 3.5]),
    heightScale: draw.pick([0.5, 1, 1.25, 2, 3.5]),
    nchw,
    alignCorners: mode === 1,
    halfPixelCenters: mode === 2,
  };
};

export const imageHints: Readonly<Record<string, Plausible>> = {
  AVERAGE_POOL_2D: pool,
  L2_POOL_2D: pool,
  MAX_POOL_2D: pool,
  CONV_2D: convolution(false),
  TRANSPOSE_CONV_2D: convolution(true),
  DEPTHWISE_CONV_2D: depthwise,
  GROUPED_CONV_2D: group,
  RESIZE_BILINEAR: resize,
  RESIZE_NEAREST_NEIGHBOR: resize,
  FULLY_CONNECTED(draw) {
    const input = draw.shape(2, 4).map((extent) => Math.max(1, extent));
    const size = elementAt(input, input.length - 1);
    const units = draw.integer(1, 4);
    const scales = accumulatorScales(draw, "weights");
    return {
      input: { dimensions: input, scale: scales.input },
      weights: { dimensions: [units, size], scale: scales.weights },
      bias: { dimensions: [units], scale: scales.bias },
    };
  },
};
