/**
 * ROI_ALIGN: the mean of bilinear samples in each bin of each region of interest.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { bool, int32, scalar, tensor } from "../params.ts";
import { imageAxes } from "../window.ts";
import { realValues, storeReal } from "./_real.ts";
import { type Region, regionsShape, regionTypes, scaledRegions } from "./_regions.ts";

export const roiAlign = defineOperation({
  name: "ROI_ALIGN",
  code: OperationType.ROI_ALIGN,
  summary: "Resamples regions of interest to one size: the mean of bilinear samples in each bin.",
  params: [
    tensor("input"),
    tensor("regions"),
    tensor("batches", "TENSOR_INT32"),
    int32("outputHeight"),
    int32("outputWidth"),
    scalar("heightStride"),
    scalar("widthStride"),
    int32("heightSamples"),
    int32("widthSamples"),
    bool("nchw"),
  ],
  outputs: [tensor("output")],
  types: regionTypes,
  ranks: { input: 4, regions: 2, batches: 1 },
  infer({ input, regions, batches, ...settings }) {
    for (const samples of [settings.heightSamples, settings.widthSamples]) {
      ensure(samples >= 0, () => `the sampling ratio is ${samples} where a number ≥ 0 is needed`);
    }
    return { output: { dimensions: regionsShape(input, regions, batches, settings) } };
  },
  *reference({ input, regions, batches, ...settings }, { output }) {
    const { nchw, outputHeight, outputWidth, heightSamples, widthSamples } = settings;
    const axes = imageAxes(nchw);
    const height = input.dimensions[axes.height];
    const width = input.dimensions[axes.width];
    const channels = input.dimensions[axes.channel];
    const values = realValues(input);
    const result = new Float64Array(output.data.length);
    const step = { pixel: nchw ? 1 : channels, channel: nchw ? height * width : 1 };
    const outStep = { pixel: nchw ? 1 : channels, channel: nchw ? outputHeight * outputWidth : 1 };
    const scaled: Region[] = scaledRegions(input, regions, batches, settings);
    for (const [index, { batch, x1, y1, x2, y2 }] of scaled.entries()) {
      const binWidth = Math.max(x2 - x1, 1) / outputWidth;
      const binHeight = Math.max(y2 - y1, 1) / outputHeight;
      const samplesX = widthSamples > 0 ? widthSamples : Math.ceil(binWidth);
      const samplesY = heightSamples > 0 ? heightSamples : Math.ceil(binHeight);
      const imageStart = batch * height * width * channels;
      for (let i = 0; i < outputHeight; i++) {
        for (let j = 0; j < outputWidth; j++) {
          const to = index * outputHeight * outputWidth * channels + (i * outputWidth + j) * outStep.pixel;
          for (let sampleY = 0; sampleY < samplesY; sampleY++) {
            const y = y1 + (i + (sampleY + 0.5) / samplesY) * binHeight;
            const [top, bottom, down] = between(y, height);
            for (let sampleX = 0; sampleX < samplesX; sampleX++) {
              const x = x1 + (j + (sampleX + 0.5) / samplesX) * binWidth;
              const [left, right, across] = between(x, width);
              for (let channel = 0; channel < channels; channel++) {
                const at = (row: number, column: number) =>
                  values[imageStart + (row * width + column) * step.pixel + channel * step.channel];
                result[to + channel * outStep.channel] +=
                  ((1 - down) * ((1 - across) * at(top, left) + across * at(top, right)) +
                    down * ((1 - across) * at(bottom, left) + across * at(bottom, right))) /
                  (samplesX * samplesY);
              }
            }
            yield;
          }
        }
      }
    }
    storeReal(output, result);
  },
});

/** The two pixels that a place lies between, and how far from the first; beyond the last one it is the last. */
function between(place: number, extent: number): readonly [first: number, second: number, fraction: number] {
  const first = Math.floor(place);
  return first >= extent - 1 ? [extent - 1, extent - 1, 0] : [first, first + 1, place - first];
}
