/** Pools: windows that slide over an image. */
import type { KernelTensor } from "@nnhal/backend";
import { imageLayout, isFloat, type Padding, type TensorInfo } from "@nnhal/operations";
import { cast, integers, type Value } from "../graph/builder.ts";
import { asLowered, isShifted, type Lowered, refuse, type Scope } from "../graph/scope.ts";
import type { Attribute } from "../onnx/write.ts";
import {
  activatedQuant8,
  applyActivation,
  isQuant8,
  roundedAway,
  scaleConstant,
  typeName,
  zeroPointConstant,
} from "./_lowering.ts";

interface Pool extends Padding {
  readonly input: KernelTensor;
  readonly strideWidth: number;
  readonly strideHeight: number;
  readonly filterWidth: number;
  readonly filterHeight: number;
  readonly activation: number;
  readonly nchw: boolean;
}

interface One {
  readonly output: TensorInfo;
}

function windowOf(args: Pool): Readonly<Record<string, Attribute>> {
  return {
    kernel_shape: { ints: [args.filterHeight, args.filterWidth] },
    strides: { ints: [args.strideHeight, args.strideWidth] },
    pads: { ints: [args.paddingTop, args.paddingLeft, args.paddingBottom, args.paddingRight] },
  };
}

/** A pool of real numbers. */
function floatPool(
  operator: string,
  args: Pool,
  output: TensorInfo,
  scope: Scope,
  before: (image: Value) => Value = (image) => image,
  after: (image: Value) => Value = (image) => image,
): Lowered {
  const { input, nchw, activation } = args;
  if (!isFloat(input.type)) return refuse(`${typeName(input)} is not available`);
  const { builder } = scope;
  const { batches, channels, height, width } = imageLayout(output.dimensions, nchw);
  const result = { type: "float32", dims: [batches, channels, height, width] } as const;
  const image = before(scope.image(input, nchw));
  const pooled = builder.node(operator, [image], result, { attributes: windowOf(args) });
  return asLowered(applyActivation(builder, after(pooled), activation), nchw);
}

export function averagePool2d(args: Pool, { output }: One, scope: Scope): Lowered {
  const { input, nchw, activation } = args;
  if (!isQuant8(input)) return floatPool("AveragePool", args, output, scope);
  const { builder } = scope;
  // The integer operator rounds halves to even, and the HAL away from 0. An odd number of cells has no halves.
  if (isPadded(args) || (args.filterHeight * args.filterWidth) % 2 === 0) return averageExactly(args, output, scope);
  const result = { type: "uint8", dims: output.dimensions } as const;
  const facts = [scaleConstant(builder, input), zeroPointConstant(builder, input)];
  const pooled = builder.node("QLinearAveragePool", [scope.read(input), ...facts, ...facts], result, {
    attributes: { ...windowOf(args), channels_last: { int: nchw ? 0 : 1 } },
    domain: "com.microsoft",
  });
  return activatedQuant8(builder, pooled, activation, output);
}

/** The averages of stored numbers, whose quantisation does not change, in float32. */
function averageExactly(args: Pool, output: TensorInfo, scope: Scope): Lowered {
  const { input, nchw, activation } = args;
  const { builder } = scope;
  const from = imageLayout(input.dimensions, nchw);
  const { batches, channels, height, width } = imageLayout(output.dimensions, nchw);
  const isWhole = !isPadded(args) && args.filterHeight === from.height && args.filterWidth === from.width;
  const round = (means: Value): Value => {
    const numbers = roundedAway(builder, means, isShifted(input.type) ? 128 : 0);
    return activatedQuant8(builder, cast(builder, numbers, "uint8"), activation, output);
  };
  if (isWhole && !nchw) {
    const numbers = cast(builder, scope.read(input), "float32");
    const result = { type: "float32", dims: output.dimensions } as const;
    const attributes = { keepdims: { int: 1 } };
    return round(builder.node("ReduceMean", [numbers, integers(builder, [1, 2])], result, { attributes }));
  }
  const image = cast(builder, scope.image(input, nchw), "float32");
  const result = { type: "float32", dims: [batches, channels, height, width] } as const;
  return asLowered(round(builder.node("AveragePool", [image], result, { attributes: windowOf(args) })), nchw);
}

function isPadded({ paddingTop, paddingLeft, paddingBottom, paddingRight }: Padding): boolean {
  return paddingTop + paddingLeft + paddingBottom + paddingRight > 0;
}

export function maxPool2d(args: Pool, { output }: One, scope: Scope): Lowered {
  const { input, nchw, activation } = args;
  if (!isQuant8(input)) return floatPool("MaxPool", args, output, scope);
  const { builder } = scope;
  const result = { type: "uint8", dims: output.dimensions } as const;
  const operator = nchw ? "MaxPool" : "NhwcMaxPool";
  const pooled = builder.node(operator, [scope.read(input)], result, {
    attributes: windowOf(args),
    domain: nchw ? "" : "com.microsoft",
  });
  return activatedQuant8(builder, pooled, activation, output);
}

/** √ of the mean of the squares under the window. */
export function l2Pool2d(args: Pool, { output }: One, scope: Scope): Lowered {
  const { builder } = scope;
  return floatPool(
    "AveragePool",
    args,
    output,
    scope,
    (image) => builder.node("Mul", [image, image], image),
    (image) => builder.node("Sqrt", [image], image),
  );
}
