/** Softmax and normalisations along an axis. */

import type { KernelTensor } from "@nnhal/backend";
import { GREATEST_FLOAT } from "@nnhal/backend/float32";
import { elementAt, extentProduct, imageLayout, isFloat, resolveAxis, type TensorInfo } from "@nnhal/operations";
import { cast, integers, real, reshape, type Value } from "../graph/builder.ts";
import { asLowered, type Lowered, refuse, type Scope } from "../graph/scope.ts";
import { isQuant8, isReal, quantise, readReal, subtractZeroPoint, typeName } from "./_lowering.ts";

interface AlongAxis {
  readonly input: KernelTensor;
  readonly axis: number;
}

interface One {
  readonly output: TensorInfo;
}

/**
 * Differences to the greatest element are made before they are multiplied, so that a great beta leaves that one 0. Those of quantised elements
 * are whole numbers: a scale may be below what float32 keeps of real numbers.
 */
function exponential(operator: string) {
  return ({ input, axis, beta }: AlongAxis & { readonly beta: number }, { output }: One, scope: Scope): Lowered => {
    if (!isReal(input)) refuse(`${typeName(input)} is not available`);
    const { builder } = scope;
    const isWhole = isQuant8(input);
    const x = isWhole ? cast(builder, scope.read(input), "float32") : readReal(scope, input);
    const factor = isWhole ? Math.min(input.scale * beta, GREATEST_FLOAT) : beta;
    const along = resolveAxis(axis, input.dimensions.length);
    const most = () => builder.node("ReduceMax", [x, integers(builder, [along])], slicesOf(x, along));
    const scaled =
      factor === 1 ? x : builder.node("Mul", [builder.node("Sub", [x, most()], x), real(builder, factor)], x);
    return quantise(scope, builder.node(operator, [scaled], x, { attributes: { axis: { int: along } } }), output);
  };
}

/** The type and the extents of one number for each slice along an axis. */
function slicesOf({ dims }: Value, along: number): Pick<Value, "type" | "dims"> {
  return { type: "float32", dims: dims.map((extent, at) => (at === along ? 1 : extent)) };
}

export const softmax = exponential("Softmax");
export const logSoftmax = exponential("LogSoftmax");

/** The length does not depend on the scale, so whole numbers less their zero point are as good as real ones, and as great as they need to be. */
export function l2Normalization({ input, axis }: AlongAxis, { output }: One, scope: Scope): Lowered {
  if (!isReal(input)) refuse(`${typeName(input)} is not available`);
  const { builder } = scope;
  const along = resolveAxis(axis, input.dimensions.length);
  const x = isQuant8(input) ? subtractZeroPoint(builder, scope.read(input), input) : readReal(scope, input);
  const sums = slicesOf(x, along);
  const squares = builder.node("Mul", [x, x], x);
  const sum = builder.node("ReduceSum", [squares, integers(builder, [along])], sums);
  const norm = builder.node("Max", [builder.node("Sqrt", [sum], sums), real(builder, 1e-6)], sums);
  return quantise(scope, builder.node("Div", [x, norm], x), output);
}

interface LocalResponse extends AlongAxis {
  readonly radius: number;
  readonly bias: number;
  readonly alpha: number;
  readonly beta: number;
}

export function localResponseNormalization(args: LocalResponse, _: One, scope: Scope): Lowered {
  const { input, radius, bias, alpha, beta } = args;
  const { dimensions } = input;
  const { builder } = scope;
  const along = resolveAxis(args.axis, dimensions.length);
  const extent = elementAt(dimensions, along);
  const size = 2 * Math.min(radius, extent - 1) + 1;
  if (!(alpha > 0 && beta > 0)) return refuse(`alpha ${alpha} and beta ${beta}: only positive ones are available`);
  const attributes = {
    size: { int: size },
    // The operator divides it by the size.
    alpha: { real: alpha * size },
    beta: { real: beta },
    bias: { real: bias },
  };
  const normalise = (value: Value) => builder.node("LRN", [value], value, { attributes });
  if (dimensions.length === 4 && along === 3) return { image: normalise(scope.image(input, false)) };
  const parts = [extentProduct(dimensions, 0, along), extent, extentProduct(dimensions, along + 1), 1];
  return reshape(builder, normalise(reshape(builder, scope.read(input), parts)), dimensions);
}

interface Instance {
  readonly input: KernelTensor;
  readonly gamma: number;
  readonly beta: number;
  readonly epsilon: number;
  readonly nchw: boolean;
}

export function instanceNormalization(args: Instance, _: One, scope: Scope): Lowered {
  const { input, gamma, beta, epsilon, nchw } = args;
  if (!isFloat(input.type)) return refuse(`${typeName(input)} is not available`);
  const { builder } = scope;
  const { channels } = imageLayout(input.dimensions, nchw);
  const given = scope.image(input, nchw);
  // The mean of large elements is rounded. The operator takes off the mean of what is left, which is the rest of it.
  const mean = builder.node("GlobalAveragePool", [given], { type: "float32", dims: [...given.dims.slice(0, 2), 1, 1] });
  const image = builder.node("Sub", [given, mean], given);
  const each = (number: number) =>
    builder.constant("float32", [channels], () => new Float32Array(channels).fill(number));
  const attributes = { epsilon: { real: epsilon } };
  return asLowered(
    builder.node("InstanceNormalization", [image, each(gamma), each(beta)], image, { attributes }),
    nchw,
  );
}
