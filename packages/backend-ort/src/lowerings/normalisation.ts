/** Softmax and normalisations along an axis. */
import type { KernelTensor } from "@nnhal/backend";
import { elementAt, extentProduct, imageLayout, isFloat, resolveAxis, type TensorInfo } from "@nnhal/operations";
import { integers, real, reshape, type Value } from "../graph/builder.ts";
import { asLowered, type Lowered, refuse, type Scope } from "../graph/scope.ts";
import { isReal, quantised, readReal, typeName } from "./_lowering.ts";

interface AlongAxis {
  readonly input: KernelTensor;
  readonly axis: number;
}

interface One {
  readonly output: TensorInfo;
}

function exponential(operator: string) {
  return ({ input, axis, beta }: AlongAxis & { readonly beta: number }, { output }: One, scope: Scope): Lowered => {
    if (!isReal(input)) refuse(`${typeName(input)} is not available`);
    const { builder } = scope;
    const x = readReal(scope, input);
    const scaled = beta === 1 ? x : builder.node("Mul", [x, real(builder, beta)], x);
    const along = resolveAxis(axis, input.dimensions.length);
    return quantised(scope, builder.node(operator, [scaled], x, { attributes: { axis: { int: along } } }), output);
  };
}

export const softmax = exponential("Softmax");
export const logSoftmax = exponential("LogSoftmax");

export function l2Normalization({ input, axis }: AlongAxis, { output }: One, scope: Scope): Lowered {
  if (!isReal(input)) refuse(`${typeName(input)} is not available`);
  const { builder } = scope;
  const along = resolveAxis(axis, input.dimensions.length);
  const x = readReal(scope, input);
  const sums: Pick<Value, "type" | "dims"> = {
    type: "float32",
    dims: x.dims.map((extent, at) => (at === along ? 1 : extent)),
  };
  const squares = builder.node("Mul", [x, x], x);
  const sum = builder.node("ReduceSum", [squares, integers(builder, [along])], sums);
  const norm = builder.node("Max", [builder.node("Sqrt", [sum], sums), real(builder, 1e-6)], sums);
  return quantised(scope, builder.node("Div", [x, norm], x), output);
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
  const normalised = (value: Value) => builder.node("LRN", [value], value, { attributes });
  if (dimensions.length === 4 && along === 3) return { image: normalised(scope.image(input, false)) };
  const parts = [extentProduct(dimensions, 0, along), extent, extentProduct(dimensions, along + 1), 1];
  return reshape(builder, normalised(reshape(builder, scope.read(input), parts)), dimensions);
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
  const image = scope.image(input, nchw);
  const each = (number: number) =>
    builder.constant("float32", [channels], () => new Float32Array(channels).fill(number));
  const attributes = { epsilon: { real: epsilon } };
  return asLowered(
    builder.node("InstanceNormalization", [image, each(gamma), each(beta)], image, { attributes }),
    nchw,
  );
}
