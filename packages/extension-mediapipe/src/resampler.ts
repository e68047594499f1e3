/** Resampler: reads an image at points, by bilinear interpolation. */
import { defineOperation, ensure, tensor } from "@nnhal/operations/authoring";
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
  /** output[b, p, c] = data[b, y, x, c] at (x, y) = warp[b, p]: the four neighbours, each times the area of the rectangle opposite to it. */
  reference({ data, warp }, { output }) {
    const [, height, width, channels] = data.dimensions;
    const compute = (first: number, end: number) => {
      const [elements, points, results] = [data.data, warp.data, output.data];
      for (let to = first; to < end; ) {
        const point = Math.floor(to / channels);
        const start = Math.floor(point / (height * width)) * height;
        const [x, y] = [points[2 * point], points[2 * point + 1]];
        // NaN is outside too.
        const isInside = x > -1 && y > -1 && x < width && y < height;
        const [left, top] = [Math.floor(x), Math.floor(y)];
        const [byLeft, byTop] = [fround(left + 1 - x), fround(top + 1 - y)];
        const [byRight, byBottom] = [fround(1 - byLeft), fround(1 - byTop)];
        const element = (row: number, column: number, channel: number) =>
          row >= 0 && row < height && column >= 0 && column < width
            ? elements[((start + row) * width + column) * channels + channel]
            : 0;
        for (const last = Math.min(end, (point + 1) * channels); to < last; to++) {
          const channel = to - point * channels;
          results[to] = isInside
            ? byLeft * byTop * element(top, left, channel) +
              byRight * byBottom * element(top + 1, left + 1, channel) +
              byLeft * byBottom * element(top + 1, left, channel) +
              byRight * byTop * element(top, left + 1, channel)
            : 0;
        }
      }
    };
    return { units: output.data.length, cost: 64, compute };
  },
});
