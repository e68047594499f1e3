/** LiteRtMaxUnpooling2D, of LiteRT: puts each element at a place of the result, which an index says; all others are 0. */
import { defineOperation, ensure, int32, mayStayZero, tensor } from "@nnhal/operations/authoring";
import { ensurePositive, isSame, readPooling } from "./_struct.ts";

export const litertMaxUnpooling2d = defineOperation({
  name: "LiteRtMaxUnpooling2D",
  code: 8,
  summary: "Elements at the places of an image that indices say, among zeros.",
  params: [
    // Batches by height by width by channels.
    tensor("input", "TENSOR_FLOAT32"),
    // Of the same shape: places within the image of a batch, channels included.
    tensor("indices", "TENSOR_INT32"),
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
    const [batches, height, width, channels] = input.dimensions;
    ensure(
      input.dimensions.join() === indices.dimensions.join(),
      () => `the indices have the shape [${indices.dimensions}], the input [${input.dimensions}]`,
    );
    const isWhole = isSame(padding);
    const extent = (count: number, stride: number, filter: number) =>
      isWhole ? count * stride : (count - 1) * stride + filter;
    const [rows, columns] = [extent(height, stride_height, filter_height), extent(width, stride_width, filter_width)];
    return { output: { dimensions: [batches, rows, columns, channels] } };
  },
  /** output[b, indices[b, i]] = input[b, i] */
  reference({ input, indices }, { output }) {
    const [batches] = input.dimensions;
    const [count, size] = [input.data.length / batches, output.data.length / batches];
    const compute = (first: number, end: number) => {
      for (let from = first; from < end; from++) {
        const place = indices.data[from];
        // Indices are data: one of a place outside of the image puts nothing anywhere.
        if (place >= 0 && place < size) output.data[Math.floor(from / count) * size + place] = input.data[from];
      }
    };
    return { units: input.data.length, inTurn: true, compute };
  },
});
