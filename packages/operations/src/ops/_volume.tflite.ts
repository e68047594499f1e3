/**
 * Three-dimensional convolutions and their transposes: for each output cell the input's cells that belong to it are gathered into one
 * patch, with 0 for those that are not there, and each filter is a dot product with it.
 */
import { activationRange } from "../activation.ts";
import { ensure } from "../fail.ts";
import { clamp } from "../fixed-point.ts";
import { int32 } from "../params.ts";
import type { Filled, Phase } from "../phases.ts";
import type { OutputTensor, Tensor } from "../tensor.ts";
import { dilatedExtent, implicitPadding } from "../window.ts";
import { realsOf } from "./_elements.tflite.ts";
import { filtersOfUnit, multiply } from "./_inner-products.ts";
import { widen } from "./_widen.ts";

/** The options of both operators. */
export const volumeOptions = [
  int32("padding"),
  int32("strideD"),
  int32("strideW"),
  int32("strideH"),
  int32("fusedActivationFunction"),
  int32("dilationDFactor"),
  int32("dilationWFactor"),
  int32("dilationHFactor"),
] as const;

/** The values of the options. */
export interface VolumeOptions {
  /** 0 SAME, 1 VALID, as in the schema. */
  readonly padding: number;
  readonly strideD: number;
  readonly strideW: number;
  readonly strideH: number;
  readonly dilationDFactor: number;
  readonly dilationWFactor: number;
  readonly dilationHFactor: number;
}

/** Movement of a window along an axis. */
export interface Axis {
  readonly name: string;
  readonly stride: number;
  readonly dilation: number;
  /** Extent of the window without dilation. */
  readonly window: number;
}

/** Depth, height and width of a window of these extents. */
export function axesOf(options: VolumeOptions, [depth, height, width]: readonly number[]): readonly Axis[] {
  const { strideD, strideH, strideW, dilationDFactor, dilationHFactor, dilationWFactor } = options;
  return [
    { name: "depth", stride: strideD, dilation: dilationDFactor, window: depth },
    { name: "height", stride: strideH, dilation: dilationHFactor, window: height },
    { name: "width", stride: strideW, dilation: dilationWFactor, window: width },
  ];
}

/** Padding before an axis whose windows lie in `extent` cells. */
export function paddingBefore(padding: number, extent: number, { name, stride, dilation, window }: Axis): number {
  ensure(padding === 0 || padding === 1, () => `padding ${padding} is neither SAME 0 nor VALID 1`);
  ensure(window >= 1, () => `the filter's ${name} is ${window}, less than 1`);
  return implicitPadding(padding + 1, extent, stride, dilatedExtent(window, dilation))[0];
}

/** The input's index along an axis for an output's index and a cell of the window; outside the input if there is none. */
export type Source = (index: number, cell: number) => number;

/** The source of a convolution. */
export function convolutionSource(input: number, padding: number, axis: Axis): Source {
  const before = paddingBefore(padding, input, axis);
  const { stride, dilation } = axis;
  return (index, cell) => index * stride + cell * dilation - before;
}

/** The source of a transposed convolution. */
export function transposedSource(output: number, padding: number, axis: Axis): Source {
  const before = paddingBefore(padding, output, axis);
  const { stride, dilation } = axis;
  return (index, cell) => {
    const from = (index + before - cell * dilation) / stride;
    return Number.isInteger(from) ? from : -1;
  };
}

/** The elements of filters [cells, filters, channels] as [filters, cells, channels]. */
export function filtersFirst(data: ArrayLike<number>, filters: number, channels: number): Filled<Float64Array> {
  const cells = data.length / (filters * channels);
  const result = new Float64Array(data.length);
  const compute = (first: number, end: number) => {
    for (let unit = first; unit < end; unit++) {
      const to = ((unit % filters) * cells + Math.floor(unit / filters)) * channels;
      for (let channel = 0; channel < channels; channel++) result[to + channel] = data[unit * channels + channel];
    }
  };
  return { data: result, phases: [{ units: cells * filters, cost: 4 * (channels + 1), compute }] };
}

/** The operands of a convolution of volumes. */
export interface Volume {
  /** [batches, depth, height, width, channels] */
  readonly input: Tensor;
  /** [filters, window depth, height and width, channels] */
  readonly filters: Filled<Float64Array>;
  readonly bias: Tensor | undefined;
  readonly activation: number;
  /** Those of depth, height and width, in this order, as the sources. */
  readonly axes: readonly Axis[];
  readonly sources: readonly Source[];
  /** [batches, depth, height, width, filters] */
  readonly output: OutputTensor;
}

/** Computes a convolution of volumes, or its transpose. A unit is a cell of the output under a block of the filters. */
export function convolveVolume(volume: Volume): readonly Phase[] {
  const { input, filters, bias, activation, output } = volume;
  const [, depth, height, width, count] = output.dimensions;
  const cells = widen(input);
  const patch = new Float64Array(filters.data.length / count);
  const start = bias === undefined ? new Float64Array(count) : realsOf(bias);
  const sums = new Float64Array(count);
  const [least, greatest] = activationRange(activation);
  const block = filtersOfUnit(count, patch.length);
  const blocks = Math.ceil(count / block);
  const compute = (first: number, end: number) => {
    for (let unit = first; unit < end; unit++) {
      const cell = Math.floor(unit / blocks);
      if (unit === first || unit % blocks === 0) {
        const row = Math.floor(cell / width);
        const slice = Math.floor(row / height);
        gatherVolume(volume, cells.data, [Math.floor(slice / depth), slice % depth, row % height, cell % width], patch);
      }
      const from = (unit % blocks) * block;
      const to = Math.min(from + block, count);
      multiply(patch, filters.data, start, from, to, sums);
      for (let filter = from; filter < to; filter++) {
        output.data[cell * count + filter] = clamp(sums[filter], least, greatest);
      }
    }
  };
  const units = (output.data.length / count) * blocks;
  return [...cells.phases, ...filters.phases, { units, cost: (block + 1) * (patch.length + 1), apart: true, compute }];
}

/** Copies the input's cells that belong to a cell of the output into `patch`, with 0 for those that are not there. */
function gatherVolume(
  { input, axes, sources }: Volume,
  data: Float64Array,
  [batch, z, y, x]: readonly number[],
  patch: Float64Array,
): void {
  const [, depth, height, width, channels] = input.dimensions;
  const [alongDepth, alongHeight, alongWidth] = sources;
  const windows = axes.map(({ window }) => window);
  let at = 0;
  for (let i = 0; i < windows[0]; i++) {
    const slice = alongDepth(z, i);
    for (let j = 0; j < windows[1]; j++) {
      const row = alongHeight(y, j);
      const isRow = slice >= 0 && slice < depth && row >= 0 && row < height;
      for (let k = 0; k < windows[2]; k++, at += channels) {
        const column = alongWidth(x, k);
        if (!isRow || column < 0 || column >= width) {
          patch.fill(0, at, at + channels);
          continue;
        }
        const from = (((batch * depth + slice) * height + row) * width + column) * channels;
        for (let channel = 0; channel < channels; channel++) patch[at + channel] = data[from + channel];
      }
    }
  }
}
