/** Resizing of images. 8-bit elements are interpolated in whole numbers, as the reference does: floats would round some of them otherwise. */
import type { KernelTensor } from "@nnhal/backend";
import { imageAxes, imageLayout, type TensorInfo } from "@nnhal/operations";
import { nearestSource, neighboursInSteps, RESIZE_STEPS, type ResizeAlignment } from "@nnhal/operations/compiling";
import { cast, integers, type Value } from "../graph/builder.ts";
import { asLowered, type Lowered, refuse, type Scope } from "../graph/scope.ts";
import { dequantise, isQuant8, isReal, quantise, typeName } from "./_lowering.ts";

interface Resize extends ResizeAlignment {
  readonly input: KernelTensor;
  readonly width: number;
  readonly height: number;
  readonly nchw: boolean;
}

interface One {
  readonly output: TensorInfo;
}

export function resizeBilinear(args: Resize, { output }: One, scope: Scope): Lowered {
  const { input, width, height, nchw, alignCorners, halfPixelCenters } = args;
  if (isQuant8(input)) return resizeInSteps(args, scope);
  if (!isReal(input)) refuse(`${typeName(input)} is not available`);
  const { builder } = scope;
  const image = dequantise(scope, scope.image(input, nchw), input);
  const [batches = 0, channels = 0] = image.dims;
  const dims = [batches, channels, height, width];
  const mode = alignCorners ? "align_corners" : halfPixelCenters ? "half_pixel" : "asymmetric";
  const attributes = { mode: { text: "linear" }, coordinate_transformation_mode: { text: mode } };
  const inputs = [image, undefined, undefined, integers(builder, dims)];
  const resized = builder.node("Resize", inputs, { type: "float32", dims }, { attributes });
  return asLowered(quantise(scope, resized, output), nchw);
}

/** Interpolates bytes along both axes in steps, and rounds once. Inside the graph they are unsigned, so that the division rounds down. */
function resizeInSteps(args: Resize, scope: Scope): Lowered {
  const { input, width, height, nchw } = args;
  const { builder } = scope;
  const from = imageLayout(input.dimensions, nchw);
  const axes = imageAxes(nchw);
  const number = (value: number) => builder.scalar("int32", value);
  const join = (operator: string, left: Value, right: Value, { type, dims }: Value) =>
    builder.node(operator, [left, right], { type, dims });
  const along = (value: Value, axis: number, extent: number, length: number): Value => {
    const { before, after, share } = neighboursInSteps(extent, length, args);
    const dims = value.dims.with(axis, length);
    const attributes = { axis: { int: axis } };
    const [first, second] = [before, after].map((places) =>
      builder.node("Gather", [value, integers(builder, Array.from(places))], { type: "int32", dims }, { attributes }),
    ) as [Value, Value];
    const shareDims = dims.map((_, each) => (each === axis ? length : 1));
    const shares = builder.constant("int32", shareDims, () => Int32Array.from(share));
    const moved = join("Mul", join("Sub", second, first, first), shares, first);
    return join("Add", join("Mul", first, number(RESIZE_STEPS), first), moved, first);
  };
  const whole = cast(builder, scope.read(input), "int32");
  const rows = along(whole, axes.height, from.height, height);
  const sums = along(rows, axes.width, from.width, width);
  const raised = join("Add", sums, number(RESIZE_STEPS ** 2 / 2), sums);
  return cast(builder, join("Div", raised, number(RESIZE_STEPS ** 2), sums), "uint8");
}

/** Gathers rows and columns at indexes that are known from the shapes: the operator of ONNX rounds differently. */
export function resizeNearestNeighbor(args: Resize, _: One, scope: Scope): Lowered {
  const { input, width, height, nchw } = args;
  const { builder } = scope;
  const from = imageLayout(input.dimensions, nchw);
  const axes = imageAxes(nchw);
  const gather = (value: Value, axis: number, indexes: readonly number[]) => {
    const dims = value.dims.map((extent, at) => (at === axis ? indexes.length : extent));
    const attributes = { axis: { int: axis } };
    return builder.node("Gather", [value, integers(builder, indexes)], { type: value.type, dims }, { attributes });
  };
  const rows = gather(scope.read(input), axes.height, nearest(from.height, height, args));
  return gather(rows, axes.width, nearest(from.width, width, args));
}

/** The input index of each output index along one axis. */
function nearest(input: number, output: number, alignment: ResizeAlignment): number[] {
  const sourceOf = nearestSource(input, output, alignment);
  return Array.from({ length: output }, (_, index) => sourceOf(index));
}
