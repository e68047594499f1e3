/**
 * Three-dimensional convolutions and their transposes: for each output cell the input's cells that belong to it are gathered into one
 * patch, with 0 for those that are not there, and each filter is a dot product with it.
 */
import {
  activationRange,
  clamp,
  dilatedExtent,
  implicitPadding,
  type OutputTensor,
  type Tensor,
} from "@nnhal/operations";
import { ensure, int32 } from "@nnhal/operations/authoring";
import { blockOf, multiply, WORK_BETWEEN_PAUSES, widen } from "@nnhal/operations/kernels";
import { realsOf } from "./_elements.ts";
import { filledData } from "./_phases.ts";

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
export function* filtersFirst(
  data: ArrayLike<number>,
  filters: number,
  channels: number,
): Generator<void, Float64Array> {
  const cells = data.length / (filters * channels);
  const result = new Float64Array(data.length);
  let work = 0;
  for (let cell = 0; cell < cells; cell++) {
    for (let filter = 0; filter < filters; filter++) {
      const from = (cell * filters + filter) * channels;
      const to = (filter * cells + cell) * channels;
      for (let channel = 0; channel < channels; channel++) result[to + channel] = data[from + channel];
    }
    work += filters * channels;
    if (work > WORK_BETWEEN_PAUSES) {
      work = 0;
      yield;
    }
  }
  return result;
}

/** The operands of a convolution of volumes. */
export interface Volume {
  /** [batches, depth, height, width, channels] */
  readonly input: Tensor;
  /** [filters, window depth, height and width, channels] */
  readonly filters: Float64Array;
  readonly bias: Tensor | undefined;
  readonly activation: number;
  /** Those of depth, height and width, in this order, as the sources. */
  readonly axes: readonly Axis[];
  readonly sources: readonly Source[];
  /** [batches, depth, height, width, filters] */
  readonly output: OutputTensor;
}

/** Computes a convolution of volumes, or its transpose. */
export function* convolveVolume({
  input,
  filters,
  bias,
  activation,
  axes,
  sources,
  output,
}: Volume): Generator<void, void> {
  const [, inDepth, inHeight, inWidth, channels] = input.dimensions;
  const [batches, depth, height, width, count] = output.dimensions;
  const data = yield* filledData(widen(input));
  const patch = new Float64Array(filters.length / count);
  const start = bias === undefined ? new Float64Array(count) : realsOf(bias);
  const sums = new Float64Array(count);
  const [least, greatest] = activationRange(activation);
  const [alongDepth, alongHeight, alongWidth] = sources;
  const windows = axes.map(({ window }) => window);
  const block = blockOf(patch.length);
  let work = 0;
  let to = 0;
  for (let batch = 0; batch < batches; batch++) {
    for (let z = 0; z < depth; z++) {
      for (let y = 0; y < height; y++) {
        for (let x = 0; x < width; x++) {
          let at = 0;
          for (let i = 0; i < windows[0]; i++) {
            const slice = alongDepth(z, i);
            for (let j = 0; j < windows[1]; j++) {
              const row = alongHeight(y, j);
              const isRow = slice >= 0 && slice < inDepth && row >= 0 && row < inHeight;
              for (let k = 0; k < windows[2]; k++, at += channels) {
                const column = alongWidth(x, k);
                if (!isRow || column < 0 || column >= inWidth) {
                  patch.fill(0, at, at + channels);
                  continue;
                }
                const from = (((batch * inDepth + slice) * inHeight + row) * inWidth + column) * channels;
                for (let channel = 0; channel < channels; channel++) patch[at + channel] = data[from + channel];
              }
            }
            if (patch.length > WORK_BETWEEN_PAUSES) yield;
          }
          for (let first = 0; first < count; first += block) {
            const end = Math.min(first + block, count);
            multiply(patch, filters, start, first, end, sums);
            work += (end - first + 1) * (patch.length + 1);
            if (work > WORK_BETWEEN_PAUSES) {
              work = 0;
              yield;
            }
          }
          for (let filter = 0; filter < count; filter++) output.data[to++] = clamp(sums[filter], least, greatest);
        }
      }
    }
  }
}
