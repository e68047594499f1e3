/** Pools. */
import type { KernelTensor } from "@nnhal/backend";
import { activationRange, isFloat, type Padding, quantisedActivationRange, type TensorInfo } from "@nnhal/operations";
import { type Builder, outputOf, transpose, transposeInto, type Value } from "./builder.ts";
import { windowOf } from "./convolution.ts";
import { accumulator, convert, type Expression, on, roundedAway, within } from "./expression.ts";
import { expectReal, type LoweringTable } from "./lowering.ts";
import type { PoolStep } from "./plan.ts";
import { refuse } from "./refusal.ts";
import { extentsOf } from "./windows.ts";

interface PoolArguments extends Padding {
  readonly input: KernelTensor;
  readonly strideWidth: number;
  readonly strideHeight: number;
  readonly filterWidth: number;
  readonly filterHeight: number;
  readonly activation: number;
  readonly nchw: boolean;
}

/** So many bytes add up to less than 2^24, and their mean as a float32 is on the right side of every half. */
const mostBytes = 65535;

function pooledValue(kind: PoolStep["pool"], activation: number, input: TensorInfo, output: TensorInfo): Expression {
  if (isFloat(input.type)) {
    const value = kind === "squares" ? on("sqrt", accumulator("f32")) : accumulator("f32");
    return within(value, ...activationRange(activation));
  }
  const [least, greatest] = quantisedActivationRange(activation, output);
  if (kind === "max") return within(accumulator("i32"), least, greatest);
  return convert("toInteger", within(roundedAway(accumulator("f32")), least, greatest));
}

const kinds = { AVERAGE_POOL_2D: "average", MAX_POOL_2D: "max", L2_POOL_2D: "squares" } as const;

function pool(name: keyof typeof kinds) {
  const kind = kinds[name];
  return (args: PoolArguments, { output }: { readonly output: TensorInfo }, builder: Builder): Value => {
    const { input, activation, nchw, filterHeight: height, filterWidth: width } = args;
    expectReal(input);
    const given = builder.read(input);
    const image = nchw ? transpose(builder, given, [0, 2, 3, 1]) : given;
    const extents = extentsOf(image);
    const most = Math.min(height, extents.height) * Math.min(width, extents.width);
    if (kind === "average" && !isFloat(input.type) && most > mostBytes)
      refuse(`a window of ${most} cells is not available`);
    const own = outputOf(builder, output);
    const [batches = 1, , ,] = output.dimensions;
    const outHeight = output.dimensions[nchw ? 2 : 1] ?? 1;
    const outWidth = output.dimensions[nchw ? 3 : 2] ?? 1;
    const target = nchw ? builder.value(own.type, [batches, outHeight, outWidth, extents.channels]) : own;
    builder.add({
      kind: "pool",
      name,
      pool: kind,
      source: image,
      input: extents,
      output: extentsOf(target),
      window: windowOf(height, width, { ...args, dilationHeight: 1, dilationWidth: 1 }, extents, extentsOf(target)),
      target,
      value: pooledValue(kind, activation, input, output),
      units: batches * outHeight,
      work: outWidth * extents.channels * most,
    });
    if (nchw) transposeInto(builder, target, [0, 3, 1, 2], own);
    return own;
  };
}

/** The lowerings. */
export const pooling: LoweringTable = {
  L2_POOL_2D: pool("L2_POOL_2D"),
  AVERAGE_POOL_2D: pool("AVERAGE_POOL_2D"),
  MAX_POOL_2D: pool("MAX_POOL_2D"),
};
