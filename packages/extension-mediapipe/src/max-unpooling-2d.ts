/** MaxUnpooling2D: puts each element where MaxPoolingWithArgmax2D found it; all others are 0. */
import { defineOperation, ensure, int32, pacer, tensor } from "@nnhal/operations/authoring";
import { ensurePositive, isSame, paddingBefore, readPooling } from "./_struct.ts";

export const maxUnpooling2d = defineOperation({
  name: "MaxUnpooling2D",
  code: 2,
  summary: "Elements at the places in their windows that indices say, among zeros.",
  params: [
    // Batches by height by width by channels.
    tensor("input", "TENSOR_FLOAT32"),
    // Of the same shape; the fraction is truncated.
    tensor("indices", "TENSOR_FLOAT32"),
    int32("padding"),
    int32("stride_width"),
    int32("stride_height"),
    int32("filter_width"),
    int32("filter_height"),
  ],
  outputs: [tensor("output", "TENSOR_FLOAT32")],
  types: [["1.2"]],
  ranks: { input: 4, indices: 4 },
  customOptions(stored) {
    const { activation: _unused, ...options } = readPooling(stored);
    return options;
  },
  infer({ input, indices, padding, stride_width, stride_height, filter_width, filter_height }) {
    ensurePositive({ stride_width, stride_height, filter_width, filter_height });
    isSame(padding);
    const [batches, height, width, channels] = input.dimensions;
    ensure(
      input.dimensions.join() === indices.dimensions.join(),
      () => `the indices have the shape [${indices.dimensions}], the input [${input.dimensions}]`,
    );
    return { output: { dimensions: [batches, height * filter_height, width * filter_width, channels] } };
  },
  *reference({ input, indices, stride_width, stride_height, filter_width, filter_height }, { output }) {
    const [batches, height, width, channels] = input.dimensions;
    const [, outHeight, outWidth] = output.dimensions;
    const top = paddingBefore(outHeight, filter_height, stride_height, height);
    const left = paddingBefore(outWidth, filter_width, stride_width, width);
    const isTime = pacer();
    output.data.fill(0);
    let from = 0;
    for (let batch = 0; batch < batches; batch++) {
      for (let row = 0; row < height; row++) {
        for (let column = 0; column < width; column++) {
          for (let channel = 0; channel < channels; channel++, from++) {
            const index = Math.trunc(indices.data[from]);
            const y = row * stride_height - top + Math.trunc(index / filter_width);
            const x = column * stride_width - left + (index % filter_width);
            // Indices are data: one of a place outside of the result, and NaN, puts nothing there.
            if (!(y >= 0 && y < outHeight && x >= 0 && x < outWidth)) continue;
            output.data[((batch * outHeight + y) * outWidth + x) * channels + channel] = input.data[from];
          }
          if (isTime(channels)) yield;
        }
      }
    }
  },
});
