/**
 * ROI_ALIGN: the mean of bilinear samples in each bin of each region of interest.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { bool, int32, tensor } from "../params.ts";
import type { OutputTensor } from "../tensor.ts";
import { type ImageLayout, imageLayout } from "./_image.ts";
import { realValues, storeReal } from "./_real.ts";
import { type Region, regionParams, regionReader, regionsShape, regionTypes } from "./_regions.ts";

export const roiAlign = defineOperation({
  name: "ROI_ALIGN",
  code: OperationType.ROI_ALIGN,
  summary: "Resamples regions of interest to one size: the mean of bilinear samples in each bin.",
  params: [...regionParams, int32("heightSamples"), int32("widthSamples"), bool("nchw")],
  outputs: [tensor("output")],
  types: regionTypes,
  ranks: { input: 4, regions: 2, batches: 1 },
  infer({ input, regions, batches, ...settings }) {
    for (const samples of [settings.heightSamples, settings.widthSamples]) {
      ensure(samples >= 0, () => `the sampling ratio: expected a number ≥ 0, got ${samples}`);
    }
    return { output: { dimensions: regionsShape(input, regions, batches, settings) } };
  },
  // output[r, i, j, c] = Σ over the pixels (y, x) that bin (i, j) sees: rows[i](y) · columns[j](x) · input[y, x, c]
  reference({ input, regions, batches, ...settings }, { output }) {
    const values = realValues(input);
    const corners = realValues(regions);
    const regionAt = regionReader(input, corners.data, batches, settings);
    const image = imageLayout(input.dimensions, settings.nchw);
    const out = imageLayout(output.dimensions, settings.nchw);
    // All regions are checked before anything is computed.
    const check = (first: number, end: number) => {
      for (let index = first; index < end; index++) regionAt(index);
    };
    // A unit is a row of bins of a region.
    const compute = (first: number, end: number) => {
      for (let row = first; row < end; row++) {
        const index = Math.floor(row / out.height);
        alignRow(values.data, image, regionAt(index), settings, output, out, index, row % out.height);
      }
    };
    const [count] = regions.dimensions;
    const cost = (image.height / out.height + 2) * (image.width + 2 * out.width) * image.channels;
    return [
      ...values.phases,
      ...corners.phases,
      { units: count, cost: 16, compute: check },
      { units: count * out.height, cost, apart: true, compute },
    ];
  },
});

/** output[index, i, j, c] = Σ over the pixels that bin (i, j) of the region sees: weight · input[batch, y, x, c] */
function alignRow(
  values: Float64Array,
  image: ImageLayout,
  { batch, x1, y1, x2, y2 }: Region,
  { heightSamples, widthSamples }: { readonly heightSamples: number; readonly widthSamples: number },
  output: OutputTensor,
  out: ImageLayout,
  index: number,
  i: number,
): void {
  const rows = { start: y1, size: Math.max(y2 - y1, 1) / out.height, samples: heightSamples, extent: image.height };
  const columns = { start: x1, size: Math.max(x2 - x1, 1) / out.width, samples: widthSamples, extent: image.width };
  const vertical = viewOf(rows, i);
  const sums = new Float64Array(image.channels);
  for (let j = 0; j < out.width; j++) {
    const horizontal = viewOf(columns, j);
    sums.fill(0);
    for (let row = 0; row < vertical.weights.length; row++) {
      for (let column = 0; column < horizontal.weights.length; column++) {
        const weight = vertical.weights[row] * horizontal.weights[column];
        const [y, x] = [vertical.first + row, horizontal.first + column];
        let from = batch * image.batchStep + y * image.rowStep + x * image.pixelStep;
        for (let channel = 0; channel < sums.length; channel++) {
          sums[channel] += weight * values[from];
          from += image.channelStep;
        }
      }
    }
    storeReal(output, sums, index * out.batchStep + i * out.rowStep + j * out.pixelStep, out.channelStep);
  }
}

/** Bins of a region along one axis of the feature map. */
interface Bins {
  readonly start: number;
  /** Of one bin, in pixels. */
  readonly size: number;
  /** In each bin; 0: one for each pixel begun. */
  readonly samples: number;
  /** Of the feature map. */
  readonly extent: number;
}

/** The pixels that a bin sees along one axis, and how much each counts; the weights add up to 1. */
interface View {
  readonly first: number;
  readonly weights: Float64Array;
}

/** Samples lie in the middle of equal parts of a bin; each counts for the two pixels beside it. */
function viewOf({ start, size, samples, extent }: Bins, bin: number): View {
  const count = samples > 0 ? samples : Math.ceil(size);
  const first = Math.min(Math.floor(start + bin * size), extent - 1);
  const last = Math.min(Math.floor(start + (bin + 1) * size) + 1, extent - 1);
  const weights = new Float64Array(last - first + 1);
  for (let sample = 0; sample < count; sample++) {
    const place = start + (bin + (sample + 0.5) / count) * size;
    const pixel = Math.floor(place);
    // Beyond the last pixel it is the last.
    if (pixel >= extent - 1) weights[extent - 1 - first] += 1 / count;
    else {
      weights[pixel - first] += (1 - place + pixel) / count;
      weights[pixel - first + 1] += (place - pixel) / count;
    }
  }
  return { first, weights };
}
