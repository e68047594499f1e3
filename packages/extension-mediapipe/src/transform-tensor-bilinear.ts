/** TransformTensorBilinear: an image through an affine transformation, with interpolated elements. */
import { bool, defineOperation, ensure, int32, tensor } from "@nnhal/operations/authoring";
import { ensureMatrix, numberOption, numbersOption } from "./_landmarks.ts";
import { ensurePositive, ensureVersion } from "./_struct.ts";

const { fround } = Math;

export const transformTensorBilinear = defineOperation({
  name: "TransformTensorBilinear",
  code: 3,
  summary: "Elements at transformed places, interpolated among four neighbours; 0 outside the input.",
  params: [
    // Batches by height by width by channels.
    tensor("input", "TENSOR_FLOAT32"),
    // 4 by 4: the first two rows give x and y in the input, from [x, y, 0, 1] in the output.
    tensor("matrix", "TENSOR_FLOAT32"),
    int32("output_height"),
    int32("output_width"),
    // True if positions are those of the middles of elements (version 2), not of their corners (version 1).
    bool("has_half_pixels"),
  ],
  outputs: [tensor("output", "TENSOR_FLOAT32")],
  types: [["1.2"]],
  ranks: { input: 4 },
  customOptions(stored) {
    ensureVersion(stored, 2);
    const options = stored.map();
    if (stored.version === 1) {
      const { mode = "bilinear" } = options;
      ensure(mode === "bilinear", () => `the mode: expected bilinear, got ${String(mode)}`);
      const [output_height = 0, output_width = 0] = numbersOption(options, "output_size");
      return { output_height, output_width, has_half_pixels: false };
    }
    return {
      output_height: numberOption(options, "output_height"),
      output_width: numberOption(options, "output_width"),
      has_half_pixels: true,
    };
  },
  infer({ input, matrix, output_height, output_width }) {
    ensurePositive({ output_height, output_width });
    ensureMatrix(matrix);
    const [batches, , , channels] = input.dimensions;
    return { output: { dimensions: [batches, output_height, output_width, channels] } };
  },
  /**
   * output[b, row, column, c] = input[b, y, x, c] at [x, y] = matrix · [column, row, 0, 1], interpolated along x in the two rows around it, then
   * between them.
   */
  reference({ input, matrix, has_half_pixels: hasHalfPixels }, { output }) {
    const [, height, width, channels] = input.dimensions;
    const [, outHeight, outWidth] = output.dimensions;
    const [toX, toY] = [0, 4].map((row) => placeFunction(matrix.data.slice(row, row + 4), hasHalfPixels));
    const compute = (first: number, end: number) => {
      const [elements, results] = [input.data, output.data];
      for (let to = first; to < end; ) {
        const pixel = Math.floor(to / channels);
        const [column, row] = [pixel % outWidth, Math.floor(pixel / outWidth) % outHeight];
        const start = Math.floor(pixel / (outWidth * outHeight)) * height;
        const [x, y] = [toX(column, row), toY(column, row)];
        const isInside = x >= 0 && x <= width - 1 && y >= 0 && y <= height - 1;
        const [left, top] = [Math.floor(x), Math.floor(y)];
        const [right, below] = [x - left, y - top];
        const element = (inY: number, inX: number, channel: number) =>
          inY < height && inX < width ? elements[((start + inY) * width + inX) * channels + channel] : 0;
        for (const last = Math.min(end, (pixel + 1) * channels); to < last; to++) {
          const channel = to - pixel * channels;
          if (!isInside) {
            results[to] = 0;
            continue;
          }
          const upper = (1 - right) * element(top, left, channel) + right * element(top, left + 1, channel);
          const lower = (1 - right) * element(top + 1, left, channel) + right * element(top + 1, left + 1, channel);
          results[to] = (1 - below) * upper + below * lower;
        }
      }
    };
    return { units: output.data.length, cost: 64, compute };
  },
});

/** A coordinate in the input, in float32 since its comparison with the bounds depends on it. */
function placeFunction([byX, byY, , offset]: ArrayLike<number> & Iterable<number>, hasHalfPixels: boolean) {
  const shift = hasHalfPixels ? fround(offset + (byX * 0.5 + byY * 0.5 - 0.5)) : offset;
  return (x: number, y: number) => fround(fround(fround(byX * x) + fround(byY * y)) + shift);
}
