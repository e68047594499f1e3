/** MaxPoolingWithArgmax2D: the greatest element of each window, and where in the window it is. */
import { defineOperation, ensure, int32, pacer, tensor } from "@nnhal/operations/authoring";
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
  *reference({ input, stride_width, stride_height, filter_width, filter_height, activation }, { output, indices }) {
    const [batches, height, width, channels] = input.dimensions;
    const [, rows, columns] = output.dimensions;
    const top = paddingBefore(height, filter_height, stride_height, rows);
    const left = paddingBefore(width, filter_width, stride_width, columns);
    const [least, most] = bounds[activation] ?? bounds[0];
    const isTime = pacer();
    let to = 0;
    for (let batch = 0; batch < batches; batch++) {
      for (let row = 0; row < rows; row++) {
        const y = row * stride_height - top;
        for (let column = 0; column < columns; column++) {
          const x = column * stride_width - left;
          for (let channel = 0; channel < channels; channel++, to++) {
            let greatest = LEAST;
            let place = 0;
            for (let inY = Math.max(y, 0); inY < Math.min(y + filter_height, height); inY++) {
              for (let inX = Math.max(x, 0); inX < Math.min(x + filter_width, width); inX++) {
                const value = input.data[((batch * height + inY) * width + inX) * channels + channel];
                if (!(value > greatest)) continue;
                greatest = value;
                place = (inY - y) * filter_width + inX - x;
              }
            }
            output.data[to] = Math.min(Math.max(greatest, least), most);
            // MediaPipe's indices are a little more, so that they are right when they are cut off after arithmetic of low precision.
            indices.data[to] = place + Math.fround(0.1);
          }
          if (isTime(channels * filter_height * filter_width)) yield;
        }
      }
    }
  },
});
