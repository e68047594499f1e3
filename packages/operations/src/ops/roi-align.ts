/**
 * ROI_ALIGN: the mean of bilinear samples in each bin of each region of interest.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { bool, int32, tensor } from "../params.ts";
import { pacer } from "./_chunks.ts";
import { WORK_BETWEEN_PAUSES } from "./_convolution.ts";
import { imageLayout } from "./_image.ts";
import { realValues, storeReal } from "./_real.ts";
import { regionParams, regionReader, regionsShape, regionTypes } from "./_regions.ts";

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
  *reference({ input, regions, batches, ...settings }, { output }) {
    const { nchw, outputHeight, outputWidth, heightSamples, widthSamples } = settings;
    const { height, width, channels, batchStep, rowStep, pixelStep, channelStep } = imageLayout(input.dimensions, nchw);
    const out = imageLayout(output.dimensions, nchw);
    const values = yield* realValues(input);
    const sums = new Float64Array(channels);
    const isTime = pacer();
    let work = 0;
    const regionAt = regionReader(input, yield* realValues(regions), batches, settings);
    // All regions are checked before anything is computed.
    for (let index = 0; index < regions.dimensions[0]; index++) {
      regionAt(index);
      if (isTime(4)) yield;
    }
    for (let index = 0; index < regions.dimensions[0]; index++) {
      const { batch, x1, y1, x2, y2 } = regionAt(index);
      const rows = { start: y1, size: Math.max(y2 - y1, 1) / outputHeight, samples: heightSamples, extent: height };
      const columns = { start: x1, size: Math.max(x2 - x1, 1) / outputWidth, samples: widthSamples, extent: width };
      const horizontals: View[] = [];
      for (let j = 0; j < outputWidth; j++) horizontals.push(yield* viewOf(columns, j));
      for (let i = 0; i < outputHeight; i++) {
        const vertical = yield* viewOf(rows, i);
        for (let j = 0; j < outputWidth; j++) {
          const horizontal = horizontals[j];
          sums.fill(0);
          for (let row = 0; row < vertical.weights.length; row++) {
            for (let column = 0; column < horizontal.weights.length; column++) {
              const weight = vertical.weights[row] * horizontal.weights[column];
              let from = batch * batchStep + (vertical.first + row) * rowStep + (horizontal.first + column) * pixelStep;
              for (let channel = 0; channel < channels; channel++) {
                sums[channel] += weight * values[from];
                from += channelStep;
              }
              work += channels;
              if (work > WORK_BETWEEN_PAUSES) {
                work = 0;
                yield;
              }
            }
          }
          storeReal(output, sums, index * out.batchStep + i * out.rowStep + j * out.pixelStep, out.channelStep);
        }
      }
    }
  },
});

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
function* viewOf({ start, size, samples, extent }: Bins, bin: number): Generator<void, View> {
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
    if (sample % WORK_BETWEEN_PAUSES === WORK_BETWEEN_PAUSES - 1) yield;
  }
  return { first, weights };
}
