/** MaxPoolingWithArgmax2D: the greatest element of each window, and where in the window it is. */
import { defineOperation, ensure, int32, tensor } from "@nnhal/operations/authoring";
import { ensurePositive, isSame, paddingBefore, readPooling } from "./_struct.ts";

/** Bounds of results by the code of the activation: none, RELU, RELU_N1_TO_1, RELU6. */
const bounds = [
  [-Infinity, Infinity],
  [0, Infinity],
  [-1, 1],
  [0, 6],
] as const;

/** The least finite float32: where a window has nothing greater, the result is this and the index 0. */
const LEAST = -(2 - 2 ** -23) * 2 ** 127;

export const maxPoolingWithArgmax2d = defineOperation({
  name: "MaxPoolingWithArgmax2D",
  code: 1,
  summary: "Greatest element of each window, and its index in the window, row by row.",
  params: [
    // Batches by height by width by channels.
    tensor("input", "TENSOR_FLOAT32"),
    int32("padding"),
    int32("stride_width"),
    int32("stride_height"),
    int32("filter_width"),
    int32("filter_height"),
    int32("activation"),
  ],
  outputs: [tensor("output", "TENSOR_FLOAT32"), tensor("indices", "TENSOR_FLOAT32")],
  types: [["1.2"]],
  ranks: { input: 4 },
  customOptions: readPooling,
  infer({ input, padding, stride_width, stride_height, filter_width, filter_height, activation }) {
    ensurePositive({ stride_width, stride_height, filter_width, filter_height });
    ensure(
      bounds[activation] !== undefined,
      () => `the activation: expected 0 to ${bounds.length - 1}, got ${activation}`,
    );
    const [batches, height, width, channels] = input.dimensions;
    const windows = (extent: number, filter: number, stride: number) => {
      ensure(isSame(padding) || filter <= extent, () => `a window of ${filter} elements does not fit into ${extent}`);
      return isSame(padding) ? Math.ceil(extent / stride) : Math.floor((extent - filter) / stride) + 1;
    };
    const rows = windows(height, filter_height, stride_height);
    const dimensions = [batches, rows, windows(width, filter_width, stride_width), channels];
    return { output: { dimensions }, indices: { dimensions } };
  },
  /** output[b, y, x, c] = max over i and j of input[b, y · strideHeight - top + i, x · strideWidth - left + j, c]; indices: i · filterWidth + j. */
  reference({ input, stride_width, stride_height, filter_width, filter_height, activation }, { output, indices }) {
    const [, height, width, channels] = input.dimensions;
    const [, rows, columns] = output.dimensions;
    const top = paddingBefore(height, filter_height, stride_height, rows);
    const left = paddingBefore(width, filter_width, stride_width, columns);
    const [least, most] = bounds[activation] ?? bounds[0];
    const compute = (first: number, end: number) => {
      const [elements, results, places] = [input.data, output.data, indices.data];
      for (let to = first; to < end; ) {
        const pixel = Math.floor(to / channels);
        const x = (pixel % columns) * stride_width - left;
        const y = (Math.floor(pixel / columns) % rows) * stride_height - top;
        const batch = Math.floor(pixel / (columns * rows));
        for (const last = Math.min(end, (pixel + 1) * channels); to < last; to++) {
          const channel = to - pixel * channels;
          let greatest = LEAST;
          let place = 0;
          for (let inY = Math.max(y, 0); inY < Math.min(y + filter_height, height); inY++) {
            for (let inX = Math.max(x, 0); inX < Math.min(x + filter_width, width); inX++) {
              const value = elements[((batch * height + inY) * width + inX) * channels + channel];
              if (!(value > greatest)) continue;
              greatest = value;
              place = (inY - y) * filter_width + inX - x;
            }
          }
          results[to] = Math.min(Math.max(greatest, least), most);
          // MediaPipe's indices are a little more, so that they are right when they are cut off after arithmetic of low precision.
          places[to] = place + Math.fround(0.1);
        }
      }
    };
    const cells = Math.min(filter_height, height) * Math.min(filter_width, width);
    return { units: output.data.length, cost: 16 + 4 * cells, compute };
  },
});
