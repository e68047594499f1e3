/** Convolution2DTransposeBias: a transposed convolution with a bias, whose result has no stored size. */
import { defineOperation, ensure, int32, pacer, readStruct, tensor } from "@nnhal/operations/authoring";
import { ensurePositive, ensureVersion, isSame } from "./_struct.ts";

/** The extent of the result, and how many of its elements the padding takes away. */
function resultOf(extent: number, filter: number, stride: number, padding: number): [extent: number, padding: number] {
  const cut = isSame(padding) ? Math.max(0, filter - ((extent - 1) % stride) - 1) : 0;
  return [stride * (extent - 1) + filter - cut, cut];
}

export const convolution2dTransposeBias = defineOperation({
  name: "Convolution2DTransposeBias",
  code: 0,
  summary: "Transposed convolution of images, with a bias for each channel of the result.",
  params: [
    // Batches by height by width by channels.
    tensor("input", "TENSOR_FLOAT32"),
    // Channels of the result by height by width by channels of the input.
    tensor("filter", "TENSOR_FLOAT32"),
    tensor("bias", "TENSOR_FLOAT32"),
    int32("padding"),
    int32("stride_width"),
    int32("stride_height"),
  ],
  outputs: [tensor("output", "TENSOR_FLOAT32")],
  types: [["1.2"]],
  ranks: { input: 4, filter: 4, bias: 1 },
  work: (inputs, outputs) => {
    const [batches, height, width, depth] = outputs.output;
    const [, filterHeight, filterWidth, channels] = inputs.filter;
    return { multiplyAdd: batches * height * width * depth * filterHeight * filterWidth * channels };
  },
  customOptions(stored) {
    ensureVersion(stored, 1);
    // TfLiteTransposeConvParams; later forms of it have more fields.
    return readStruct(stored.bytes, { padding: "int32", stride_width: "int32", stride_height: "int32" });
  },
  infer({ input, filter, bias, padding, stride_width, stride_height }) {
    ensurePositive({ stride_width, stride_height });
    const [batches, height, width, channels] = input.dimensions;
    const [depth, filterHeight, filterWidth, filterChannels] = filter.dimensions;
    ensure(channels === filterChannels, () => `the filter has ${filterChannels} channels, the input ${channels}`);
    ensure(
      bias.dimensions[0] === depth,
      () => `the bias has ${bias.dimensions[0]} elements, the filter ${depth} channels`,
    );
    const [outHeight] = resultOf(height, filterHeight, stride_height, padding);
    const [outWidth] = resultOf(width, filterWidth, stride_width, padding);
    return { output: { dimensions: [batches, outHeight, outWidth, depth] } };
  },
  *reference({ input, filter, bias, padding, stride_width, stride_height }, { output }) {
    const [, height, width, channels] = input.dimensions;
    const [depth, filterHeight, filterWidth] = filter.dimensions;
    const [batches, outHeight, outWidth] = output.dimensions;
    const [, cutHeight] = resultOf(height, filterHeight, stride_height, padding);
    const [, cutWidth] = resultOf(width, filterWidth, stride_width, padding);
    const rows = sources(outHeight, height, filterHeight, stride_height, Math.floor(cutHeight / 2));
    const columns = sources(outWidth, width, filterWidth, stride_width, Math.floor(cutWidth / 2));
    const isTime = pacer();
    let to = 0;
    for (let batch = 0; batch < batches; batch++) {
      for (const inRows of rows) {
        for (const inColumns of columns) {
          for (let channel = 0; channel < depth; channel++) {
            let sum = bias.data[channel];
            for (const row of inRows) {
              for (const column of inColumns) {
                const from = ((batch * height + row.place) * width + column.place) * channels;
                const weight = ((channel * filterHeight + row.tap) * filterWidth + column.tap) * channels;
                for (let at = 0; at < channels; at++) sum += input.data[from + at] * filter.data[weight + at];
              }
            }
            output.data[to++] = sum;
          }
          if (isTime(depth * (1 + inRows.length * inColumns.length * channels))) yield;
        }
      }
    }
  },
});

/** One product of an element of the result along a dimension: the indexes of the elements of the input and of the filter. */
interface Source {
  readonly place: number;
  readonly tap: number;
}

/** The products of each element of the result along a dimension. */
function sources(extent: number, inputs: number, filter: number, stride: number, before: number): Source[][] {
  return Array.from({ length: extent }, (_, at) => {
    const products: Source[] = [];
    for (let tap = (at + before) % stride; tap < filter; tap += stride) {
      const place = (at + before - tap) / stride;
      if (place >= 0 && place < inputs) products.push({ place, tap });
    }
    return products;
  });
}
