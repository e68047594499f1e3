/** Resampler: reads an image at points, by bilinear interpolation. */
import { defineOperation, ensure, pacer, tensor } from "@nnhal/operations/authoring";
import { ensureVersion } from "./_struct.ts";

const { fround } = Math;

export const resampler = defineOperation({
  name: "Resampler",
  code: 7,
  summary: "Reads an image at points, between its elements too; what is outside of it is 0.",
  params: [
    // Batches by height by width by channels.
    tensor("data", "TENSOR_FLOAT32"),
    // Batches by height by width by 2: x and y of the point that each element of the result is read at.
    tensor("warp", "TENSOR_FLOAT32"),
  ],
  outputs: [tensor("output", "TENSOR_FLOAT32")],
  types: [["1.2"]],
  ranks: { data: 4, warp: 4 },
  customOptions(stored) {
    ensureVersion(stored, 1);
    return {};
  },
  infer({ data, warp }) {
    const [batches, height, width] = data.dimensions;
    const expected = [batches, height, width, 2];
    ensure(
      warp.dimensions.join() === expected.join(),
      () => `the shape of the points: expected [${expected}], got [${warp.dimensions}]`,
    );
    return { output: { dimensions: data.dimensions } };
  },
  *reference({ data, warp }, { output }) {
    const [batches, height, width, channels] = data.dimensions;
    const isTime = pacer();
    let to = 0;
    for (let batch = 0; batch < batches; batch++) {
      const element = (y: number, x: number, channel: number) =>
        y >= 0 && y < height && x >= 0 && x < width
          ? data.data[((batch * height + y) * width + x) * channels + channel]
          : 0;
      for (let point = 0; point < height * width; point++) {
        const at = 2 * (batch * height * width + point);
        const [x, y] = [warp.data[at], warp.data[at + 1]];
        // NaN is outside too.
        const isInside = x > -1 && y > -1 && x < width && y < height;
        const [left, top] = [Math.floor(x), Math.floor(y)];
        const [byLeft, byTop] = [fround(left + 1 - x), fround(top + 1 - y)];
        const [byRight, byBottom] = [fround(1 - byLeft), fround(1 - byTop)];
        for (let channel = 0; channel < channels; channel++, to++) {
          output.data[to] = isInside
            ? byLeft * byTop * element(top, left, channel) +
              byRight * byBottom * element(top + 1, left + 1, channel) +
              byLeft * byBottom * element(top + 1, left, channel) +
              byRight * byTop * element(top, left + 1, channel)
            : 0;
        }
        if (isTime(8 * channels)) yield;
      }
    }
  },
});
