/** Convolution2DTransposeBias: a transposed convolution with a bias, whose result has no stored size. */
import { defineOperation, ensure, int32, readStruct, tensor } from "@nnhal/operations/authoring";
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
  /**
   * output[b, y, x, c] = bias[c] + Σ input[b, i, j, k] · filter[c, y + top - i · strideHeight, x + left - j · strideWidth, k], over all i, j and k
   * where the filter has these places.
   */
  reference({ input, filter, bias, padding, stride_width, stride_height }, { output }) {
    const [, height, width, channels] = input.dimensions;
    const [depth, filterHeight, filterWidth] = filter.dimensions;
    const [, outHeight, outWidth] = output.dimensions;
    const top = Math.floor(resultOf(height, filterHeight, stride_height, padding)[1] / 2);
    const left = Math.floor(resultOf(width, filterWidth, stride_width, padding)[1] / 2);
    const compute = (first: number, end: number) => {
      const [elements, factors, sums] = [input.data, filter.data, output.data];
      for (let to = first; to < end; ) {
        const pixel = Math.floor(to / depth);
        const x = (pixel % outWidth) + left;
        const y = (Math.floor(pixel / outWidth) % outHeight) + top;
        const batch = Math.floor(pixel / (outWidth * outHeight));
        // Where the products of the pixel begin: in the input, and in the filter of a channel.
        const starts: number[] = [];
        const weights: number[] = [];
        for (let tapY = y % stride_height; tapY < filterHeight; tapY += stride_height) {
          const inY = (y - tapY) / stride_height;
          if (inY < 0 || inY >= height) continue;
          for (let tapX = x % stride_width; tapX < filterWidth; tapX += stride_width) {
            const inX = (x - tapX) / stride_width;
            if (inX < 0 || inX >= width) continue;
            starts.push(((batch * height + inY) * width + inX) * channels);
            weights.push((tapY * filterWidth + tapX) * channels);
          }
        }
        for (const last = Math.min(end, (pixel + 1) * depth); to < last; to++) {
          const channel = to - pixel * depth;
          let sum = bias.data[channel];
          for (let tap = 0; tap < starts.length; tap++) {
            const from = starts[tap];
            const by = channel * filterHeight * filterWidth * channels + weights[tap];
            for (let at = 0; at < channels; at++) sum += elements[from + at] * factors[by + at];
          }
          sums[to] = sum;
        }
      }
    };
    const products = Math.ceil(filterHeight / stride_height) * Math.ceil(filterWidth / stride_width) * (channels + 8);
    return { units: output.data.length, cost: 16 + products, compute };
  },
});
