/** What kernels that add up products have in common. */
import type { KernelTensor } from "@nnhal/backend";
import { ensure, type Padding, quantisedActivationRange, type TensorInfo } from "@nnhal/operations";
import type { Width } from "../machine/machine.ts";
import type { Elements, Packed, Writer } from "./_code.ts";
import { literal } from "./_index.ts";
import { activate } from "./_pointwise.ts";
import { isQuantised, stored } from "./_quantised.ts";

/** The arguments of all. */
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

/** With dilations and groups; without either these are 1. */
export interface Grouped extends Convolution {
  readonly dilationWidth: number;
  readonly dilationHeight: number;
  readonly groups: number;
}

/** The names of sums that are begun with the bias: of the thread's element, or of its four. */
export function sumsFrom(
  { variable, read, four, group }: Writer,
  bias: KernelTensor,
  channel: string,
  width: Width,
): readonly string[] {
  const starts = width === 1 ? [read(bias)(channel)] : four(bias, bias.dimensions[0])("0", group);
  return starts.map((start) => variable(start));
}

/** The operands that decide what the sums are worth. */
export interface Worth {
  readonly weights: TensorInfo;
  readonly output: TensorInfo;
}

/**
 * What a thread gives of its sums, of which the first is that of `channel`. Those of quantised tensors are whole numbers, which
 * float32 holds exactly up to 2^24: they are scaled and rounded once, as the reference does.
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

/** What one unit of the sums of quantised tensors is worth: for each output channel, or one for all. */
function unitsOf(input: TensorInfo, { channelQuant, scale }: TensorInfo, bias: TensorInfo): readonly number[] {
  if (channelQuant === undefined) {
    const unit = Math.fround(input.scale * scale);
    ensure(
      Math.abs(unit - bias.scale) <= 1e-6 * Math.min(unit, bias.scale),
      () => `the bias has scale ${bias.scale} where input scale * filter scale = ${unit} is needed`,
    );
    return [unit];
  }
  const { scales } = channelQuant;
  const [channels] = bias.dimensions;
  ensure(scales.length === channels, () => `the filter has ${scales.length} scales for ${channels} channels`);
  return scales.map((each) => Math.fround(input.scale * each));
}
