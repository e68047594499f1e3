/** What kernels that add up products have in common. */
import type { KernelTensor } from "@nnhal/backend";
import { ensure, type Padding, quantisedActivationRange, type TensorInfo } from "@nnhal/operations";
import { type At, literal, type Packed, type Writer } from "./_code.ts";
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

/** The names of `width` sums, begun with the bias. */
export function sumsFrom({ line }: Writer, bias: At, channel: string, width: 1 | 4): readonly string[] {
  const names = Array.from({ length: width }, (_, place) => `s${place}`);
  for (const [place, name] of names.entries()) line(`let ${name} = ${bias(plus(channel, place))};`);
  return names;
}

/** An index and some more. */
export function plus(index: string, more: number): string {
  return more === 0 ? index : `${index} + ${more}`;
}

/** An index times some elements. */
export function times(step: number, index: string): string {
  return step === 1 ? index : `${step} * (${index})`;
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
) {
  const units = isQuantised(output.type) ? unitsOf(input, weights, bias) : [];
  const steps: Packed = { packed: Float32Array.from(units, (unit) => unit / output.scale) };
  const [a, b, c, d] = sums.map((sum, place) => {
    if (units.length === 0) return activate(sum, activation);
    const factor = units.length === 1 ? literal(steps.packed[0]) : writer.read(steps)(plus(channel, place));
    return stored(writer, `${sum} * ${factor}`, output, quantisedActivationRange(activation, output));
  });
  return sums.length === 1 ? a : ([a, b, c, d] as const);
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

/** A loop over `count` numbers named `name`; four in one go where they divide so, and the mode does not unroll by itself. */
export function loop(name: string, count: number, unrolls: boolean, body: (index: string) => string): string {
  const step = unrolls && count % 4 === 0 ? 4 : 1;
  const bodies = Array.from({ length: step }, (_, place) => body(plus(name, place)));
  return `for (let ${name} = 0; ${name} < ${count}; ${name} += ${step}) {\n${bodies.join("\n")}\n}`;
}
