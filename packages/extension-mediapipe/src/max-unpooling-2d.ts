/** MaxUnpooling2D: puts each element where MaxPoolingWithArgmax2D found it; all others are 0. */
import { defineOperation, ensure, int32, mayStayZero, tensor } from "@nnhal/operations/authoring";
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
  outputs: [mayStayZero(tensor("output", "TENSOR_FLOAT32"))],
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
  /** output[b, y, x, c] = input[b, i, j, c], where (y, x) is the place of number indices[b, i, j, c] in window (i, j). */
  reference({ input, indices, stride_width, stride_height, filter_width, filter_height }, { output }) {
    const [, height, width, channels] = input.dimensions;
    const [, outHeight, outWidth] = output.dimensions;
    const above = paddingBefore(outHeight, filter_height, stride_height, height);
    const before = paddingBefore(outWidth, filter_width, stride_width, width);
    const compute = (first: number, end: number) => {
      const [elements, places, results] = [input.data, indices.data, output.data];
      for (let from = first; from < end; ) {
        const pixel = Math.floor(from / channels);
        const left = (pixel % width) * stride_width - before;
        const top = (Math.floor(pixel / width) % height) * stride_height - above;
        const batch = Math.floor(pixel / (width * height));
        for (const last = Math.min(end, (pixel + 1) * channels); from < last; from++) {
          const index = Math.trunc(places[from]);
          const y = top + Math.trunc(index / filter_width);
          const x = left + (index % filter_width);
          // Indices are data: one of a place outside of the result, and NaN, puts nothing there.
          if (!(y >= 0 && y < outHeight && x >= 0 && x < outWidth)) continue;
          const channel = from - pixel * channels;
          results[((batch * outHeight + y) * outWidth + x) * channels + channel] = elements[from];
        }
      }
    };
    return { units: input.data.length, cost: 16, inTurn: true, compute };
  },
});
