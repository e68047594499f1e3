/** Resizing of images. */
import type { KernelTensor } from "@nnhal/backend";
import { imageAxes, imageLayout, nearestSource, type ResizeAlignment, type TensorInfo } from "@nnhal/operations";
import { integers, type Value } from "../graph/builder.ts";
import { asLowered, type Lowered, refuse, type Scope } from "../graph/scope.ts";
import { dequantised, isReal, quantised, typeName } from "./_lowering.ts";

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
  if (!isReal(input)) refuse(`${typeName(input)} is not available`);
  const { builder } = scope;
  const image = dequantised(scope, scope.image(input, nchw), input);
  const [batches = 0, channels = 0] = image.dims;
  const dims = [batches, channels, height, width];
  const mode = alignCorners ? "align_corners" : halfPixelCenters ? "half_pixel" : "asymmetric";
  const attributes = { mode: { text: "linear" }, coordinate_transformation_mode: { text: mode } };
  const inputs = [image, undefined, undefined, integers(builder, dims)];
  const resized = builder.node("Resize", inputs, { type: "float32", dims }, { attributes });
  return asLowered(quantised(scope, resized, output), nchw);
}

/** Gathers rows and columns at indexes that are known from the shapes: the operator of ONNX rounds differently. */
export function resizeNearestNeighbor(args: Resize, _: One, scope: Scope): Lowered {
  const { input, width, height, nchw } = args;
  const { builder } = scope;
  const from = imageLayout(input.dimensions, nchw);
  const axes = imageAxes(nchw);
  const gathered = (value: Value, axis: number, indexes: readonly number[]) => {
    const dims = value.dims.map((extent, at) => (at === axis ? indexes.length : extent));
    const attributes = { axis: { int: axis } };
    return builder.node("Gather", [value, integers(builder, indexes)], { type: value.type, dims }, { attributes });
  };
  const rows = gathered(scope.read(input), axes.height, nearest(from.height, height, args));
  return gathered(rows, axes.width, nearest(from.width, width, args));
}

/** The input index of each output index along one axis. */
function nearest(input: number, output: number, alignment: ResizeAlignment): number[] {
  const sourceOf = nearestSource(input, output, alignment);
  return Array.from({ length: output }, (_, index) => sourceOf(index));
}
