/**
 * The common parts of convolutions and fully connected layers: the types that they take, their factors, and the conversion of sums to
 * elements.
 */

import { activationRange, quantisedActivationRange } from "../activation.ts";
import type { KernelContext, RowOfLength } from "../define.ts";
import { ensure } from "../fail.ts";
import { clamp } from "../fixed-point.ts";
import type { AnyTensorData } from "../operand-type.ts";
import type { Phase } from "../phases.ts";
import { elementCount, isFloat, type OutputTensor, type Tensor, type TensorInfo } from "../tensor.ts";
import { tfliteTypes } from "../tflite-types.ts";
import type { Store } from "./_accumulator.ts";
import { realsOf } from "./_elements.tflite.ts";
import { channelScales, hybridWeights, isHybrid, quantiseRows } from "./_hybrid.tflite.ts";
import { type Image, type ImageLayout, imageLayout, readImage } from "./_image.ts";
import type { Filters } from "./_patches.ts";
import { exactScaling, type Scaling, wideScaling } from "./_scaling.tflite.ts";
import { widen, widenOnce } from "./_widen.ts";

const { TENSOR_INT64 } = tfliteTypes;
const perChannel = "TENSOR_QUANT8_SYMM_PER_CHANNEL";

/** Types of input, filter, bias and output that all such layers take. */
export const layerTypes: readonly RowOfLength<4>[] = [
  ["1.2", "TENSOR_FLOAT32", "TENSOR_FLOAT32", "TENSOR_FLOAT32", "TENSOR_FLOAT32"],
  ["1.2", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM", "TENSOR_INT32", "TENSOR_QUANT8_ASYMM"],
  ["1.2", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_INT32", "TENSOR_QUANT8_ASYMM_SIGNED"],
  ["1.2", "TENSOR_QUANT8_ASYMM_SIGNED", perChannel, "TENSOR_INT32", "TENSOR_QUANT8_ASYMM_SIGNED"],
  ["1.2", "TENSOR_QUANT16_SYMM", "TENSOR_QUANT8_ASYMM_SIGNED", TENSOR_INT64, "TENSOR_QUANT16_SYMM"],
  ["1.2", "TENSOR_QUANT16_SYMM", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_INT32", "TENSOR_QUANT16_SYMM"],
  ["1.2", "TENSOR_QUANT16_SYMM", perChannel, TENSOR_INT64, "TENSOR_QUANT16_SYMM"],
  ["1.2", "TENSOR_QUANT16_SYMM", perChannel, "TENSOR_INT32", "TENSOR_QUANT16_SYMM"],
];

/** The types of hybrid layers: see `_hybrid.ts`. */
export const hybridTypes: readonly RowOfLength<4>[] = [
  ["1.2", "TENSOR_FLOAT32", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_FLOAT32", "TENSOR_FLOAT32"],
  ["1.2", "TENSOR_FLOAT32", "TENSOR_QUANT8_ASYMM", "TENSOR_FLOAT32", "TENSOR_FLOAT32"],
  ["1.2", "TENSOR_FLOAT32", perChannel, "TENSOR_FLOAT32", "TENSOR_FLOAT32"],
];

/** Refuses a bias that has not one element for each output channel. */
export function ensureBiasCount(bias: TensorInfo | undefined, channels: number): void {
  ensure(channels >= 1, () => "the filter has no output channels");
  if (bias === undefined) return;
  const count = elementCount(bias.dimensions);
  ensure(count === channels, () => `the bias: expected ${channels} elements (one for each channel), got ${count}`);
}

/** The operands of a layer's sums. */
export interface Layer {
  /** The input's elements in its own layout, less the zero point. */
  readonly input: Float64Array;
  readonly filter: Tensor;
  /** Initial value of each channel's sum, in the unit of the products. */
  readonly bias: Float64Array;
  readonly store: Store;
  /** Fill the input. */
  readonly phases: readonly Phase[];
}

/** The operands of a layer. */
export interface LayerOperands {
  readonly input: Tensor;
  readonly filter: Tensor;
  readonly bias: Tensor<AnyTensorData> | undefined;
  readonly activation: number;
}

/** Form of a layer's computation. */
export interface LayerForm {
  /** Parts of a hybrid layer's input that are quantised each by itself. */
  readonly rows: number;
  readonly asymmetric: boolean;
}

/** Prepares a layer with this number of output channels. */
export function layerOf(
  { input, filter, bias, activation }: LayerOperands,
  channels: number,
  output: OutputTensor,
  { rows, asymmetric }: LayerForm,
): Layer {
  const sums = biasOf(bias, channels);
  if (!isHybrid(input, filter)) {
    const isWide = output.type === "TENSOR_QUANT16_SYMM" && bias?.type !== "TENSOR_INT32";
    const store = isFloat(output.type)
      ? floatStore(output, activation)
      : quantisedStore(input, filter, channels, output, activation, isWide ? wideScaling : exactScaling);
    const { data, phases } = widen(input);
    return { input: data, filter, bias: sums, store, phases };
  }
  const weights = hybridWeights(filter);
  const quantised = quantiseRows(input.data, rows, input.data.length / rows, asymmetric);
  return {
    input: quantised.data,
    filter: weights,
    bias: new Float64Array(channels),
    store: hybridStore(quantised.scales, channelScales(weights, channels), sums, output, activation),
    phases: quantised.phases,
  };
}

/** Operands of a layer that slides filters over an image, as the kernels of convolutions take them. */
export interface ImageLayer {
  readonly pixels: Image;
  readonly filters: Filters;
  readonly bias: Float64Array;
  /** Layout of the output. */
  readonly layout: ImageLayout;
  readonly store: Store;
  /** Fill the pixels and the filters. */
  readonly phases: readonly Phase[];
}

/** Prepares a layer that slides filters with this number of output channels over an image. */
export function imageLayerOf(
  operands: LayerOperands & { readonly nchw: boolean },
  channels: number,
  output: OutputTensor,
  form: LayerForm,
  context: KernelContext,
): ImageLayer {
  const { dimensions } = operands.input;
  const { input, filter, bias, store, phases } = layerOf(operands, channels, output, form);
  const pixels = readImage({ data: input, dimensions, zeroPoint: 0 }, operands.nchw);
  const filters = { ...widenOnce(filter, context), dimensions: filter.dimensions };
  const layout = imageLayout(output.dimensions, operands.nchw);
  return { pixels, filters, bias, layout, store, phases: [...phases, ...pixels.phases, ...filters.phases] };
}

/** The bias of each channel. An INT64 one has at most 48 bits in .tflite, so that sums are exact. */
function biasOf(bias: Tensor<AnyTensorData> | undefined, channels: number): Float64Array {
  return bias === undefined ? new Float64Array(channels) : realsOf(bias);
}

function floatStore({ data }: OutputTensor, activation: number): Store {
  const [least, greatest] = activationRange(activation);
  return (sums, first, end, start, step) => {
    for (let channel = first; channel < end; channel++)
      data[start + channel * step] = clamp(sums[channel], least, greatest);
  };
}

/** Sums count units of input scale * filter scale; the scale of the bias is ignored. */
function quantisedStore(
  input: TensorInfo,
  filter: TensorInfo,
  channels: number,
  output: OutputTensor,
  activation: number,
  scaling: Scaling,
): Store {
  const { data, zeroPoint } = output;
  const [least, greatest] = quantisedActivationRange(activation, output);
  const scaled = channelScales(filter, channels).map((scale) => scaling((input.scale * scale) / output.scale));
  return (sums, first, end, start, step) => {
    for (let channel = first; channel < end; channel++) {
      const value = scaled[channel](sums[channel]) + zeroPoint;
      data[start + channel * step] = clamp(value, least, greatest);
    }
  };
}

/** The rows of the input share the output equally, in order. */
function hybridStore(
  rowScales: Float64Array,
  scales: readonly number[],
  bias: Float64Array,
  { data }: OutputTensor,
  activation: number,
): Store {
  const [least, greatest] = activationRange(activation);
  const rowSize = data.length / rowScales.length;
  return (sums, first, end, start, step) => {
    const rowScale = rowScales[Math.floor(start / rowSize)];
    for (let channel = first; channel < end; channel++) {
      const value = sums[channel] * rowScale * scales[channel] + bias[channel];
      data[start + channel * step] = clamp(value, least, greatest);
    }
  };
}
