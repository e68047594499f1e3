/** Common parts of kernels that compute sums of products. */
import type { KernelTensor } from "@nnhal/backend";
import { ensure, type Padding, quantisedActivationRange, type TensorInfo } from "@nnhal/operations";
import type { Width } from "../machine/machine.ts";
import type { Elements, Packed, Writer } from "./_code.ts";
import { literal } from "./_index.ts";
import { activate } from "./_pointwise.ts";
import { isQuantised, stored } from "./_quantised.ts";

/** The arguments that all of them have. */
export interface Summed {
  readonly input: KernelTensor;
  readonly bias: KernelTensor;
  readonly activation: number;
}

/** The arguments of convolutions. */
export interface Convolution extends Summed, Padding {
  readonly filter: KernelTensor;
  readonly strideWidth: number;
  readonly strideHeight: number;
  readonly nchw: boolean;
}

/** Dilations and groups; 1 if the operation has none. */
export interface Grouped extends Convolution {
  readonly dilationWidth: number;
  readonly dilationHeight: number;
  readonly groups: number;
}

/** The names of sums that start with the bias: that of the thread's element, or of its four. */
export function sumsFrom(
  { variable, read, four, group }: Writer,
  bias: KernelTensor,
  channel: string,
  width: Width,
): readonly string[] {
  const starts = width === 1 ? [read(bias)(channel)] : four(bias, bias.dimensions[0])("0", group);
  return starts.map((start) => variable(start));
}

/** The operands that determine the scale of the sums. */
export interface Worth {
  readonly weights: TensorInfo;
  readonly output: TensorInfo;
}

/**
 * The results of a thread from its sums; the first is that of `channel`. For quantised tensors they are whole numbers, which are exact in
 * float32 up to 2^24. They are scaled and rounded once, as in the reference.
 */
export function finish(
  writer: Writer,
  sums: readonly string[],
  { input, bias, activation }: Summed,
  { weights, output }: Worth,
  channel: string,
): Elements {
  const units = isQuantised(output.type) ? unitsOf(input, weights, bias) : [];
  const steps: Packed = { packed: Float32Array.from(units, (unit) => unit / output.scale) };
  const factors = (): readonly string[] => {
    if (units.length === 1) return sums.map(() => literal(steps.packed[0]));
    return sums.length === 1 ? [writer.read(steps)(channel)] : writer.four(steps, units.length)("0", writer.group);
  };
  const scaled = units.length === 0 ? [] : factors();
  const [a, b, c, d] = sums.map((sum, place) =>
    units.length === 0
      ? activate(sum, activation)
      : stored(writer, `${sum} * ${scaled[place]}`, output, quantisedActivationRange(activation, output)),
  );
  return sums.length === 1 ? a : [a, b, c, d];
}

/** The real value of one unit of the sums of quantised tensors: one for each output channel, or one for all. */
function unitsOf(input: TensorInfo, { channelQuant, scale }: TensorInfo, bias: TensorInfo): readonly number[] {
  if (channelQuant === undefined) {
    const unit = Math.fround(input.scale * scale);
    ensure(
      Math.abs(unit - bias.scale) <= 1e-6 * Math.min(unit, bias.scale),
      () => `the bias has scale ${bias.scale}, but input scale * filter scale = ${unit} is needed`,
    );
    return [unit];
  }
  const { scales } = channelQuant;
  const [channels] = bias.dimensions;
  ensure(scales.length === channels, () => `the filter has ${scales.length} scales for ${channels} channels`);
  return scales.map((each) => Math.fround(input.scale * each));
}
