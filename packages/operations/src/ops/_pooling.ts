/**
 * The common parts of the three pools: everything except how the cells under a window become one value.
 */
import { activationRange, quantisedActivationRange } from "../activation.ts";
import { alternative, defineOperation, type Operation, type RowOfLength } from "../define.ts";
import { clamp, roundHalfAway } from "../fixed-point.ts";
import { bool, int32, optional, tensor } from "../params.ts";
import { type Phase, STEPS_BETWEEN_PAUSES } from "../phases.ts";
import { isFloat, type OutputTensor } from "../tensor.ts";
import type { Padding } from "../window.ts";
import { convolvedShape } from "./_convolution.ts";
import { implicitImagePadding, paddingParams, strideParams } from "./_convolution-params.ts";
import { type Image, type ImageLayout, imageLayout, readImage } from "./_image.ts";
import type { Sliding } from "./_patches.ts";

/**
 * Adds cells of `channels` elements to the values from `at` on: `count` cells of `data`, the first at `from`, each `step` after the one
 * before.
 */
type AddCells = (
  values: Float64Array,
  at: number,
  channels: number,
  data: Float64Array,
  from: number,
  count: number,
  step: number,
) => void;

/** Reduction of the cells under a window to one value, channel by channel. */
export interface Pooling {
  /** The value before the first cell. */
  readonly start: number;
  /** Adds cells of the image. */
  readonly take: AddCells;
  /** Combines two partial results. */
  readonly join: AddCells;
  /** The result of `count` cells. */
  finish(value: number, count: number): number;
}

/** The sum of cells. */
export const addCells: AddCells = (values, at, channels, data, from, count, step) => {
  for (let cell = 0, begin = from; cell < count; cell++, begin += step) {
    for (let channel = 0; channel < channels; channel++) values[at + channel] += data[begin + channel];
  }
};

const sizes = [...strideParams, int32("filterWidth"), int32("filterHeight"), int32("activation")] as const;
const layout = optional("1.2", bool("nchw"), false);

/** Defines a pool. */
export function poolOperation<const Name extends string>(
  spec: Pick<Operation, "code" | "summary"> & { readonly name: Name; readonly types: readonly RowOfLength<2>[] },
  pooling: Pooling,
) {
  return defineOperation({
    ...spec,
    params: [tensor("input"), ...paddingParams, ...sizes, layout],
    outputs: [tensor("output")],
    ranks: { input: 4 },
    work: "functionElement",
    alternatives: [
      alternative({
        params: [tensor("input"), int32("paddingScheme"), ...sizes, layout],
        normalise: (args) => implicitImagePadding(args.paddingScheme, args, args.filterHeight, args.filterWidth),
      }),
    ],
    infer({ input, filterHeight, filterWidth, nchw, ...padded }) {
      const { dimensions, scale, zeroPoint } = input;
      const { channels } = imageLayout(dimensions, nchw);
      const filter = [1, filterHeight, filterWidth, channels];
      return {
        output: {
          dimensions: convolvedShape(dimensions, filter, channels, addDilations(padded), nchw),
          scale,
          zeroPoint,
        },
      };
    },
    reference({ input, nchw, ...window }, { output }) {
      // The mean of quantised values is that of their elements: zero points can stay in.
      const image = readImage({ data: input.data, dimensions: input.dimensions, zeroPoint: 0 }, nchw);
      return [...image.phases, pool(image, window, pooling, nchw, output)];
    },
  });
}

type Strides = Pick<Sliding, "strideWidth" | "strideHeight">;

function addDilations(padded: Padding & Strides): Sliding {
  return { ...padded, dilationWidth: 1, dilationHeight: 1 };
}

type PoolWindow = Padding & Strides & { filterWidth: number; filterHeight: number; activation: number };

/**
 * output[b, y, x, c] = finish(the cells of channel c under the window at (y, x), their number)
 *
 * Cells outside the image do not count: neither their values nor their number. A unit is a row of the output, of some channels. Windows of a
 * row share their columns: of each column the cells are added once, then the columns of each window.
 */
function pool(image: Image, window: PoolWindow, pooling: Pooling, nchw: boolean, output: OutputTensor): Phase {
  const to = imageLayout(output.dimensions, nchw);
  const { channels, width, height } = image;
  const { filterWidth, filterHeight, activation } = window;
  const cells = Math.min(filterHeight, height) * width + Math.min(filterWidth, width) * to.width;
  const block = Math.min(channels, Math.max(1, Math.floor(STEPS_BETWEEN_PAUSES / cells)));
  const blocks = Math.ceil(channels / block);
  const finish = finisher(pooling, activation, output);
  const columns = new Float64Array(width * block);
  const compute = (first: number, end: number) => {
    for (let unit = first; unit < end; unit++) {
      const from = (unit % blocks) * block;
      const row = Math.floor(unit / blocks);
      poolRow(image, window, pooling, to, row, from, Math.min(block, channels - from), columns, finish);
    }
  };
  return { units: to.batches * to.height * blocks, cost: cells * block, apart: true, compute };
}

/** Pools `channels` channels from `first` on, for a row of the output of those of all batches. */
function poolRow(
  image: Image,
  { strideWidth, strideHeight, paddingLeft, paddingTop, filterWidth, filterHeight }: PoolWindow,
  pooling: Pooling,
  to: ImageLayout,
  rowOfAll: number,
  first: number,
  channels: number,
  columns: Float64Array,
  finish: ReturnType<typeof finisher>,
): void {
  const { rowStep, pixelStep } = image;
  const values = new Float64Array(channels);
  const [batch, y] = [Math.floor(rowOfAll / to.height), rowOfAll % to.height];
  const top = Math.max(0, y * strideHeight - paddingTop);
  const bottom = Math.min(image.height, y * strideHeight - paddingTop + filterHeight);
  /** Columns before it are ready if a window needs them. */
  let ready = 0;
  for (let x = 0; x < to.width; x++) {
    const left = Math.max(0, x * strideWidth - paddingLeft);
    const right = Math.min(image.width, x * strideWidth - paddingLeft + filterWidth);
    for (ready = Math.max(ready, left); ready < right; ready++) {
      columns.fill(pooling.start, ready * channels, (ready + 1) * channels);
      const from = batch * image.batchStep + top * rowStep + ready * pixelStep + first;
      pooling.take(columns, ready * channels, channels, image.data, from, bottom - top, rowStep);
    }
    values.fill(pooling.start);
    pooling.join(values, 0, channels, columns, left * channels, right - left, channels);
    const start = batch * to.batchStep + y * to.rowStep + x * to.pixelStep + first * to.channelStep;
    finish(values, (bottom - top) * (right - left), start, to.channelStep);
  }
}

/** Stores the results of one output pixel. */
function finisher(pooling: Pooling, activation: number, output: OutputTensor) {
  const { data } = output;
  const float = isFloat(output.type);
  const [least, greatest] = float ? activationRange(activation) : quantisedActivationRange(activation, output);
  return (values: Float64Array, count: number, start: number, step: number) => {
    for (let channel = 0; channel < values.length; channel++) {
      const value = pooling.finish(values[channel], count);
      data[start + channel * step] = clamp(float ? value : roundHalfAway(value), least, greatest);
    }
  };
}
