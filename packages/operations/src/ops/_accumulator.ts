/**
 * From accumulators to output elements: the last step of convolutions and fully connected layers. Float: activation.
 * Quantised: an accumulator counts units of input scale * filter scale; it is rescaled to the output's, then clamped.
 */
import { activationRange, quantisedActivationRange } from "../activation.ts";
import { ensure } from "../fail.ts";
import { clamp, roundHalfEven } from "../fixed-point.ts";
import { isFloat, type OutputTensor, type Tensor, type TensorInfo } from "../tensor.ts";

/** Stores the sums of the channels [first, end) of one output pixel: channel c at `start` + c * `step`. */
export type Store = (sums: Float64Array, first: number, end: number, start: number, step: number) => void;

/** The store of a weighted sum: filter channels are output channels. */
export function accumulatorStore(
  input: TensorInfo,
  filter: TensorInfo,
  bias: TensorInfo,
  output: OutputTensor,
  activation: number,
): Store {
  const { data } = output;
  if (isFloat(output.type)) {
    const [least, greatest] = activationRange(activation);
    return (sums, first, end, start, step) => {
      for (let channel = first; channel < end; channel++) {
        data[start + channel * step] = clamp(sums[channel], least, greatest);
      }
    };
  }
  const multipliers = accumulatorScales(input, filter, bias).map((scale) => Math.fround(scale / output.scale));
  const [least, greatest] = quantisedActivationRange(activation, output);
  const { zeroPoint } = output;
  return (sums, first, end, start, step) => {
    for (let channel = first; channel < end; channel++) {
      const scaled = roundHalfEven(Math.fround(Math.fround(sums[channel]) * multipliers[channel]));
      data[start + channel * step] = clamp(scaled + zeroPoint, least, greatest);
    }
  };
}

/** Real value of one accumulator unit of each output channel; products are rounded to float32, as the HAL's executor does. */
function accumulatorScales(input: TensorInfo, filter: TensorInfo, bias: TensorInfo): number[] {
  const channels = bias.dimensions[0];
  if (filter.channelQuant !== undefined) {
    const { scales } = filter.channelQuant;
    ensure(scales.length === channels, () => `the filter has ${scales.length} scales for ${channels} channels`);
    return scales.map((scale) => Math.fround(input.scale * scale));
  }
  const product = Math.fround(input.scale * filter.scale);
  ensure(
    Math.abs(product - bias.scale) <= 1e-6 * Math.min(product, bias.scale),
    () => `the scale of the bias: expected input scale * filter scale = ${product}, got ${bias.scale}`,
  );
  return new Array<number>(channels).fill(product);
}

/** Bias of each output channel. */
export function biasOf(bias: Tensor): Float64Array {
  return new Float64Array(bias.data);
}

/**
 * Returns whether operands break the rule of HAL 1.0 and 1.1 that the output's scale is greater than the accumulator's.
 * Such operands need HAL 1.2.
 */
export function needsFreeOutputScale(input: TensorInfo, filter: TensorInfo, output: TensorInfo): boolean {
  return input.type === "TENSOR_QUANT8_ASYMM" && output.scale <= Math.fround(input.scale * filter.scale);
}
