/**
 * The common parts of the convolutions' operand lists: types, explicit and implicit padding, and the rules on filter and bias.
 */
import type { RowOfLength } from "../define.ts";
import { ensure } from "../fail.ts";
import { bool, int32, optional } from "../params.ts";
import { ensureShape } from "../shape.ts";
import type { TensorInfo } from "../tensor.ts";
import { dilatedExtent, implicitPadding, type Padding } from "../window.ts";
import { imageLayout } from "./_image.ts";

/** Types of input, filter, bias and output; `since`: the version that introduced the operation. */
export function convolutionTypes(since: "1.0" | "1.2"): readonly RowOfLength<4>[] {
  return [
    [since, "TENSOR_FLOAT32", "TENSOR_FLOAT32", "TENSOR_FLOAT32", "TENSOR_FLOAT32"],
    ["1.2", "TENSOR_FLOAT16", "TENSOR_FLOAT16", "TENSOR_FLOAT16", "TENSOR_FLOAT16"],
    [since, "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM", "TENSOR_INT32", "TENSOR_QUANT8_ASYMM"],
    ["1.2", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_SYMM_PER_CHANNEL", "TENSOR_INT32", "TENSOR_QUANT8_ASYMM"],
    ["1.3", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_INT32", "TENSOR_QUANT8_ASYMM_SIGNED"],
    [
      "1.3",
      "TENSOR_QUANT8_ASYMM_SIGNED",
      "TENSOR_QUANT8_SYMM_PER_CHANNEL",
      "TENSOR_INT32",
      "TENSOR_QUANT8_ASYMM_SIGNED",
    ],
  ];
}

/** Explicit padding. */
export const paddingParams = [
  int32("paddingLeft"),
  int32("paddingRight"),
  int32("paddingTop"),
  int32("paddingBottom"),
] as const;

/** Strides of a window. */
export const strideParams = [int32("strideWidth"), int32("strideHeight")] as const;

/** Layout and dilations, as CONV_2D and DEPTHWISE_CONV_2D may have them at the end; dilations come both or not at all. */
export const dilationParams = [
  optional("1.2", bool("nchw"), false),
  optional("1.2", int32("dilationWidth"), 1),
  optional("1.2", int32("dilationHeight"), 1),
] as const;

/** The arguments that implicit padding depends on, beside the extents of the window. */
export interface Slid {
  readonly input: TensorInfo;
  readonly nchw: boolean;
  readonly strideWidth: number;
  readonly strideHeight: number;
  readonly dilationWidth?: number;
  readonly dilationHeight?: number;
}

/** Padding on all four sides by an implicit scheme, of a window of this height and width. */
export function implicitImagePadding(
  scheme: number,
  { input, nchw, strideWidth, strideHeight, dilationWidth = 1, dilationHeight = 1 }: Slid,
  windowHeight: number,
  windowWidth: number,
): Padding {
  const { height, width } = imageLayout(input.dimensions, nchw);
  const heightUnder = dilatedExtent(windowHeight, dilationHeight);
  const widthUnder = dilatedExtent(windowWidth, dilationWidth);
  const [paddingTop, paddingBottom] = implicitPadding(scheme, height, strideHeight, heightUnder);
  const [paddingLeft, paddingRight] = implicitPadding(scheme, width, strideWidth, widthUnder);
  return { paddingLeft, paddingRight, paddingTop, paddingBottom };
}

/** The rule broken by a per-channel filter whose scales belong to another dimension than that of the outputs. */
export function checkChannelDim(filter: TensorInfo, channelDim: number): string | undefined {
  const { channelQuant } = filter;
  if (channelQuant === undefined || channelQuant.channelDim === channelDim) return undefined;
  return `the filter's scales: expected dimension ${channelDim}, got ${channelQuant.channelDim}`;
}

/** Refuses filters that do not take the input's channels. */
export function ensureDepth(filter: number, input: number): void {
  ensure(filter === input, () => `the filter has ${filter} input channels where the input has ${input}`);
}

/** Refuses a bias that has not one element for each output channel. */
export function ensureBias(bias: TensorInfo, channels: number): void {
  ensure(channels >= 1, () => "the filter has no output channels");
  ensureShape("the bias", bias, [channels]);
}
