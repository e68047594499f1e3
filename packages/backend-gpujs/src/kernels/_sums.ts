/** What kernels that add up products have in common. */
import type { KernelTensor } from "@nnhal/backend";
import type { Padding } from "@nnhal/operations";
import type { At, Writer } from "./_code.ts";
import { activate } from "./_pointwise.ts";

/** The arguments of convolutions. */
export interface Convolution extends Padding {
  readonly input: KernelTensor;
  readonly filter: KernelTensor;
  readonly bias: KernelTensor;
  readonly strideWidth: number;
  readonly strideHeight: number;
  readonly activation: number;
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

/** What a thread gives of its sums. */
export function finish(sums: readonly string[], activation: number) {
  const [a, b, c, d] = sums.map((sum) => activate(sum, activation));
  return sums.length === 1 ? a : ([a, b, c, d] as const);
}

/** A loop over `count` numbers named `name`; four in one go where they divide so, and the mode does not unroll by itself. */
export function loop(name: string, count: number, unrolls: boolean, body: (index: string) => string): string {
  const step = unrolls && count % 4 === 0 ? 4 : 1;
  const bodies = Array.from({ length: step }, (_, place) => body(plus(name, place)));
  return `for (let ${name} = 0; ${name} < ${count}; ${name} += ${step}) {\n${bodies.join("\n")}\n}`;
}
