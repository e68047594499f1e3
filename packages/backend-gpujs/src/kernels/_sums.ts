/** Common parts of kernels that compute sums of products. */
import type { KernelTensor } from "@nnhal/backend";
import { BIAS_UNIT, divideBias } from "@nnhal/backend/float32";
import { ensure, type Padding, quantisedActivationRange, type TensorInfo } from "@nnhal/operations";
import type { Width } from "../machine/machine.ts";
import type { Elements, Packed, Source, Writer } from "./_code.ts";
import { literal } from "./_index.ts";
import { activate } from "./_pointwise.ts";
import { isQuantised, storeSteps } from "./_quantised.ts";

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

/** The names of the sums of a thread: of its element, or of its four. */
export interface Sums {
  readonly sums: readonly string[];
  /** The amount carried out of each sum, in units of `BIAS_UNIT`; undefined if nothing is carried. */
  readonly carried?: readonly string[];
  /** True if sums of products can exceed the exact range: see `carry`. */
  readonly carries: boolean;
}

/** The start of sums of products. */
export interface SumsGiven {
  readonly bias: KernelTensor;
  readonly channel: string;
  readonly width: Width;
  /** True if the bias is divided, so that a part of it is carried from the start. */
  readonly dividesBias: boolean;
  /** See `Sums`. */
  readonly carries: boolean;
}

/** Sums that start with the bias. */
export function sumsFrom(writer: Writer, { bias, channel, width, dividesBias, carries }: SumsGiven): Sums {
  const { variable, read, four, group } = writer;
  const startsOf = (source: Source) =>
    width === 1 ? [read(source)(channel)] : four(source, bias.dimensions[0])("0", group);
  const variables = (starts: readonly string[]) => starts.map((start) => variable(start));
  const { data } = bias;
  if (!dividesBias) return withCarried(writer, { sums: variables(startsOf(bias)), carries });
  if (data === undefined) {
    const sums = withCarried(writer, { sums: variables(startsOf(bias)), carries: true });
    carry(writer, sums);
    return { ...sums, carries };
  }
  const { high, low } = divideBias(data);
  const units = high.map((each) => each / BIAS_UNIT);
  return { sums: variables(startsOf({ packed: low })), carried: variables(startsOf({ packed: units })), carries };
}

/** Further sums, which start with 0. */
export function sumsLike(writer: Writer, { sums, carries }: Sums): Sums {
  return withCarried(writer, { sums: sums.map(() => writer.variable("0")), carries });
}

function withCarried({ variable }: Writer, { sums, carries }: Sums): Sums {
  return { sums, carries, ...(carries && { carried: sums.map(() => variable("0")) }) };
}

/** Writes code that adds sums to others. */
export function addSums({ line }: Writer, { sums, carried }: Sums, more: Sums): void {
  for (const [place, sum] of sums.entries()) line(`${sum} += ${more.sums[place]};`);
  for (const [place, units] of (more.carried ?? []).entries()) line(`${carried?.[place]} += ${units};`);
}

/** Writes code that carries the excess out of sums, so that they stay below 2^24 if up to 2^23 is added in between. */
export function carry({ define, line }: Writer, { sums, carried, carries }: Sums): void {
  if (!carries) return;
  for (const [place, sum] of sums.entries()) {
    const units = define(`Math.floor(${sum} * ${1 / BIAS_UNIT})`);
    line(`${carried?.[place]} += ${units};`);
    line(`${sum} -= ${units} * ${BIAS_UNIT};`);
  }
}

/** The operands that determine the scale of the sums. */
export interface Worth {
  readonly weights: TensorInfo;
  readonly output: TensorInfo;
}

/**
 * The results of a thread from its sums; the first is that of `channel`. For quantised tensors they are whole numbers, which are exact until
 * they are rounded to float32. They are scaled and rounded once more, as in the reference.
 */
export function finish(
  writer: Writer,
  { sums, carried }: Sums,
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
  const whole = (sum: string, place: number) =>
    writer.single(carried === undefined ? sum : `${carried[place]} * ${BIAS_UNIT} + ${sum}`);
  const [a, b, c, d] = sums.map((sum, place) =>
    units.length === 0
      ? activate(sum, activation)
      : storeSteps(
          writer,
          writer.single(`${whole(sum, place)} * ${scaled[place]}`),
          output,
          quantisedActivationRange(activation, output),
        ),
  );
  return sums.length === 1 ? a : [a, b, c, d];
}

/** The real value of one unit of the sums of quantised tensors: one for each output channel, or one for all. */
function unitsOf(input: TensorInfo, { channelQuant, scale }: TensorInfo, bias: TensorInfo): readonly number[] {
  if (channelQuant === undefined) {
    const unit = Math.fround(input.scale * scale);
    ensure(
      Math.abs(unit - bias.scale) <= 1e-6 * Math.min(unit, bias.scale),
      () => `the scale of the bias: expected input scale * filter scale = ${unit}, got ${bias.scale}`,
    );
    return [unit];
  }
  const { scales } = channelQuant;
  const [channels] = bias.dimensions;
  ensure(scales.length === channels, () => `the filter has ${scales.length} scales for ${channels} channels`);
  return scales.map((each) => Math.fround(input.scale * each));
}
