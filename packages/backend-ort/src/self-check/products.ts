/**
 * Products of bytes that break what is not exact: activations and weights at their limits, in orders in which sums of two products exceed 16
 * bits, through each kernel that the engine has for them.
 */

import type { ProductKind, WeightForm } from "../forms.ts";
import { addWholeNumber, type Builder, real } from "../graph/builder.ts";
import type { Feed, Trial } from "./trial.ts";

/** One operator. */
export interface ProductCase {
  readonly kind: ProductKind;
  readonly inputs: number;
  readonly outputs: number;
  /** The extent of filters in both directions. Default: 1. */
  readonly kernel?: number;
  /** Default: 1. */
  readonly group?: number;
  /** The order of the image. Matrix products have neither. Default: channels last. */
  readonly isNchw?: boolean;
  /** The zero point of signed weights. Default: 0, for which there are kernels of their own. */
  readonly zeroPoint?: number;
  /** True if each output has a scale. Default: false. */
  readonly isPerChannel?: boolean;
  /** True if the weights are an input of the model. Default: false. */
  readonly isVariable?: boolean;
  /** The rows of a matrix. Default: 1. */
  readonly rows?: number;
}

/** The smallest one that saturates; it is run in any case. */
export const witness: ProductCase = { kind: "convolution", inputs: 2, outputs: 1 };

export const productCases: readonly ProductCase[] = [
  { kind: "convolution", inputs: 16, outputs: 16 },
  { kind: "convolution", inputs: 16, outputs: 16, kernel: 3, isPerChannel: true },
  { kind: "convolution", inputs: 16, outputs: 16, kernel: 3, zeroPoint: 5 },
  { kind: "convolution", inputs: 3, outputs: 5, kernel: 3, isPerChannel: true },
  { kind: "convolution", inputs: 1, outputs: 1, kernel: 3, zeroPoint: -7 },
  { kind: "convolution", inputs: 6, outputs: 4, isNchw: true },
  { kind: "convolution", inputs: 8, outputs: 8, kernel: 3, isPerChannel: true, isVariable: true },
  { kind: "grouped convolution", inputs: 8, outputs: 8, group: 2, kernel: 3 },
  { kind: "grouped convolution", inputs: 8, outputs: 16, group: 8, kernel: 3, zeroPoint: 5 },
  { kind: "grouped convolution", inputs: 8, outputs: 8, group: 2, isNchw: true },
  { kind: "grouped convolution", inputs: 8, outputs: 8, group: 2, isVariable: true },
  { kind: "depthwise convolution", inputs: 16, outputs: 16, group: 16, kernel: 3, isPerChannel: true },
  { kind: "depthwise convolution", inputs: 16, outputs: 16, group: 16, kernel: 5 },
  { kind: "depthwise convolution", inputs: 16, outputs: 16, group: 16, kernel: 3, zeroPoint: 5 },
  { kind: "depthwise convolution", inputs: 5, outputs: 5, group: 5, kernel: 2, isNchw: true },
  { kind: "depthwise convolution", inputs: 16, outputs: 16, group: 16, kernel: 3, isVariable: true },
  { kind: "matrix product", inputs: 32, outputs: 16 },
  { kind: "matrix product", inputs: 17, outputs: 17, rows: 7, zeroPoint: 5 },
  { kind: "matrix product", inputs: 16, outputs: 16, rows: 4, isVariable: true },
];

const middle = 128;

/** Adds the operator of a case to a model. The real values of activations and weights are their numbers less the zero points. */
export function addProduct(builder: Builder, from: ProductCase, form: WeightForm): Trial {
  const { kind, inputs, outputs, kernel = 1, group = 1, isNchw = false, zeroPoint = 0, isPerChannel, rows = 1 } = from;
  const isMatrix = kind === "matrix product";
  /** Filters stand side by side: each window of the image has one pattern. */
  const [height, width] = isMatrix ? [1, rows] : [kernel, kernel * patterns];
  /** By pixel and channel. */
  const image = Uint8Array.from({ length: height * width * inputs }, (_, at) =>
    pattern(Math.floor(at / inputs / kernel) % patterns, at % inputs) ? 255 : 0,
  );
  const products = (inputs / group) * kernel * kernel;
  /** By output, and by place in the filter: channels first, as ONNX has them. */
  const weights = Int8Array.from({ length: outputs * products }, (_, at) =>
    pattern(Math.floor(at / products), at % products) ? 127 : -128,
  );
  const scale = (products * 2 ** 14) / 127;
  const dims = isMatrix ? [rows, inputs] : isNchw ? [1, inputs, height, width] : [1, height, width, inputs];
  const input = builder.input({ type: "uint8", dims });
  const isSigned = form === "u8s8";
  const stored = isSigned ? weights : Uint8Array.from(weights, (each) => each + 128);
  const type = isSigned ? "int8" : "uint8";
  const weightDims = isMatrix ? [outputs, products] : [outputs, inputs / group, kernel, kernel];
  const filter = from.isVariable
    ? builder.input({ type, dims: weightDims })
    : builder.constant(type, weightDims, () => stored);
  const scaleDims = isPerChannel ? [outputs] : [];
  const ones = builder.constant("float32", scaleDims, () => new Float32Array(isPerChannel ? outputs : 1).fill(1));
  const zero = zeroPoint + (isSigned ? 0 : 128);
  const zeros = builder.constant(type, scaleDims, () => {
    const length = isPerChannel ? outputs : 1;
    return isSigned ? new Int8Array(length).fill(zero) : new Uint8Array(length).fill(zero);
  });
  const bias = builder.constant("int32", [outputs], () => new Int32Array(outputs));
  const facts = [input, real(builder, 1), addWholeNumber(builder, "uint8", middle), filter, ones, zeros];
  const out = [real(builder, scale), addWholeNumber(builder, "uint8", middle)];
  const result = isMatrix
    ? builder.node(
        "QGemm",
        [...facts, bias, ...out],
        { type: "uint8", dims: [rows, outputs] },
        {
          attributes: { transB: { int: 1 } },
          domain: "com.microsoft",
        },
      )
    : builder.node(
        "QLinearConv",
        [...facts, ...out, bias],
        { type: "uint8", dims: isNchw ? [1, outputs, 1, patterns] : [1, 1, patterns, outputs] },
        {
          attributes: {
            kernel_shape: { ints: [kernel, kernel] },
            strides: { ints: [kernel, kernel] },
            group: { int: group },
            ...(!isNchw && { channels_last: { int: 1 } }),
          },
          domain: isNchw ? "" : "com.microsoft",
        },
      );
  const fed = isNchw ? channelsFirst(image, inputs) : image;
  const feeds: Feed[] = from.isVariable
    ? [
        [input, fed],
        [filter, stored],
      ]
    : [[input, fed]];
  const sums = sumsOf(image, weights, zeroPoint, { inputs, outputs, kernel, group, width });
  const expected = Array.from(sums, (sum) => Math.min(255, Math.max(0, Math.round(sum / scale) + middle)));
  return {
    form: `${form} ${kind}`,
    subject: isMatrix
      ? `a product of ${rows} by ${inputs} by ${outputs}`
      : `a kernel of ${kernel}x${kernel} for ${inputs} channels`,
    result,
    feeds,
    expected: isNchw ? Array.from(channelsFirst(expected, outputs)) : expected,
    // The engine rounds in float32.
    findAllowed: () => 1,
  };
}

const patterns = 4;

/** Returns true for the greatest number, false for the least. By row: all, none, every other one, or two of four. */
function pattern(row: number, column: number): boolean {
  switch (row % patterns) {
    case 0:
      return true;
    case 1:
      return false;
    case 2:
      return column % 2 === 0;
    default:
      return column % 4 < 2;
  }
}

interface Geometry {
  readonly inputs: number;
  readonly outputs: number;
  readonly kernel: number;
  readonly group: number;
  /** The pixels of a row of the image. */
  readonly width: number;
}

/** The exact sums, by window and output. */
function sumsOf(image: Uint8Array, weights: Int8Array, zeroPoint: number, geometry: Geometry): Int32Array {
  const { inputs, outputs, kernel, group, width } = geometry;
  const [read, made] = [inputs / group, outputs / group];
  const sums = new Int32Array((width / kernel) * outputs);
  for (let place = 0; place < sums.length; place++) {
    const output = place % outputs;
    const x = Math.floor(place / outputs) * kernel;
    const first = Math.floor(output / made) * read;
    let at = output * read * kernel * kernel;
    let sum = 0;
    for (let channel = first; channel < first + read; channel++) {
      for (let cell = 0; cell < kernel * kernel; cell++) {
        const pixel = Math.floor(cell / kernel) * width + x + (cell % kernel);
        sum += ((image[pixel * inputs + channel] ?? 0) - middle) * ((weights[at++] ?? 0) - zeroPoint);
      }
    }
    sums[place] = sum;
  }
  return sums;
}

/** Elements by pixel and channel, by channel and pixel. */
function channelsFirst(from: ArrayLike<number>, channels: number): Uint8Array {
  const pixels = from.length / channels;
  return Uint8Array.from(
    { length: from.length },
    (_, at) => from[(at % pixels) * channels + Math.floor(at / pixels)] ?? 0,
  );
}
