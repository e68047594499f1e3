/** Convolutions and fully connected layers as products, and depthwise convolutions. */
import type { KernelTensor } from "@nnhal/backend";
import { elementCount, type OperationArgs, type OperationName, type Padding, type TensorInfo } from "@nnhal/operations";
import { addElementwise, type Builder, outputOf, transpose, transposeInto, type Value } from "./builder.ts";
import { type Expression, element } from "./expression.ts";
import type { LoweringTable } from "./lowering.ts";
import type { ImageExtents, Window } from "./plan.ts";
import { refuse } from "./refusal.ts";
import { addProduct, depthwiseParts, type Sums } from "./weighted.ts";
import { addWindows, extentsOf, mostCells, type Sliding, segmentsOf } from "./windows.ts";

const toNhwc = [0, 2, 3, 1];
const toNchw = [0, 3, 1, 2];

/** An image as the kernels want it, with padding that is left to count in. */
interface Prepared {
  readonly image: Value;
  readonly padding: Padding;
}

/** The image that a window slides over: NHWC, and without the copy that an operation before has padded. */
export function prepareImage(builder: Builder, tensor: KernelTensor, padding: Padding, nchw: boolean): Prepared {
  const given = builder.read(tensor);
  if (nchw) return { image: transpose(builder, given, toNhwc), padding };
  const copy = builder.padded.get(given.region);
  const [batch, rows, columns, channels] = copy?.pads ?? [];
  const isSpatial = [batch, channels].every((pad) => pad?.[0] === 0 && pad[1] === 0);
  if (copy === undefined || !isSpatial || rows === undefined || columns === undefined) return { image: given, padding };
  return {
    image: copy.source,
    padding: {
      paddingTop: padding.paddingTop + rows[0],
      paddingBottom: padding.paddingBottom + rows[1],
      paddingLeft: padding.paddingLeft + columns[0],
      paddingRight: padding.paddingRight + columns[1],
    },
  };
}

/** The value of an output as NHWC, and what brings it into the output's own order. */
export function imageOutput(builder: Builder, output: TensorInfo, nchw: boolean) {
  const own = outputOf(builder, output);
  if (!nchw) return { target: own, finish: () => own };
  const [batches = 1, channels = 1, height = 1, width = 1] = output.dimensions;
  const target = builder.value(own.type, [batches, height, width, channels]);
  return {
    target,
    finish() {
      transposeInto(builder, target, toNchw, own);
      return own;
    },
  };
}

/** The operands of a layer of the HAL, or of one with another use of its sums. */
export type Layer<Name extends OperationName> = Omit<OperationArgs<Name, KernelTensor>, "bias"> & {
  readonly bias: KernelTensor | undefined;
  readonly sums?: Sums;
};

/** Adds CONV_2D. */
export function addConvolution(
  { input, filter, bias, activation, nchw, sums, ...sliding }: Layer<"CONV_2D">,
  { output }: { readonly output: TensorInfo },
  builder: Builder,
): Value {
  const { image, padding } = prepareImage(builder, input, sliding, nchw);
  const { target, finish } = imageOutput(builder, output, nchw);
  const convolved = { input, filter, bias, output, activation, sums };
  addWindows(builder, "CONV_2D", convolved, image, { ...sliding, ...padding }, target);
  return finish();
}

/** Adds DEPTHWISE_CONV_2D. */
export function addDepthwise(
  { input, filter, bias, depthMultiplier, activation, nchw, sums, ...sliding }: Layer<"DEPTHWISE_CONV_2D">,
  { output }: { readonly output: TensorInfo },
  builder: Builder,
): Value {
  const { image: given, padding } = prepareImage(builder, input, sliding, nchw);
  const { target, finish } = imageOutput(builder, output, nchw);
  const [, height = 1, width = 1, channels = 1] = filter.dimensions;
  const image = depthMultiplier === 1 ? given : repeatChannels(builder, given, depthMultiplier);
  const [inputExtents, outputExtents] = [extentsOf(image), extentsOf(target)];
  const window = windowOf(height, width, { ...sliding, ...padding }, inputExtents, outputExtents);
  const rows = segmentsOf(
    outputExtents.height,
    inputExtents.height,
    height,
    window.strideHeight,
    window.dilationHeight,
    window.paddingTop,
  );
  const columns = segmentsOf(
    outputExtents.width,
    inputExtents.width,
    width,
    window.strideWidth,
    window.dilationWidth,
    window.paddingLeft,
  );
  const cells =
    rows.reduce((sum, { firstTap, endTap }) => sum + endTap - firstTap, 0) *
    columns.reduce((sum, { firstTap, endTap }) => sum + endTap - firstTap, 0);
  if (cells > mostCells) refuse(`a filter of ${height}x${width} makes more code than there may be`);
  const isPaired = image.type !== "f32";
  const weights = { filter, depth: height * width, columns: channels, depthStep: channels, columnStep: 1 };
  const parts = depthwiseParts(builder, { input, weights, bias, output, activation, sums });
  builder.add({
    kind: "depthwise",
    name: "DEPTHWISE_CONV_2D",
    source: { region: image.region, type: image.type, zeroPoint: isPaired ? input.zeroPoint : 0 },
    input: inputExtents,
    output: outputExtents,
    window,
    rows,
    columns,
    ...parts,
    target,
    operands: [],
    units: outputExtents.batches * outputExtents.height,
    work: (outputExtents.width * channels * height * width) / 2,
  });
  return finish();
}

/** Adds FULLY_CONNECTED. */
export function addConnected(
  { input, weights: filter, bias, activation, sums }: Layer<"FULLY_CONNECTED">,
  { output }: { readonly output: TensorInfo },
  builder: Builder,
): Value {
  const value = builder.read(input);
  const [channels = 0, depth = 1] = filter.dimensions;
  const rows = elementCount(input.dimensions) / depth;
  const weights = { filter, depth, columns: channels, depthStep: 1, columnStep: depth };
  const target = outputOf(builder, output);
  const weighted = { input, weights, bias, output, activation, sums };
  addProduct(builder, "FULLY_CONNECTED", weighted, rows, rowsOf(value, rows, depth), target);
  return target;
}

/** Rows that lie one behind the other. */
export function rowsOf({ region, type }: Value, rows: number, depth: number, first = 0) {
  const all = rows * depth;
  return {
    region,
    type,
    width: rows,
    height: 1,
    pixelStep: depth,
    rowStep: all,
    batchStep: all,
    runs: [first],
    length: depth,
  };
}

/** The lowerings. */
export const convolutions: LoweringTable = {
  CONV_2D: addConvolution,
  DEPTHWISE_CONV_2D: addDepthwise,
  FULLY_CONNECTED: addConnected,
};

/** Bytes that a window may reach: instructions have numbers of 32 bits with a sign. */
const mostReach = 2 ** 31 - 1;

/**
 * A window over an image. A stride counts only where the output has several places, and a dilation where the window has several cells. Refuses what reaches further than numbers
 * of instructions do.
 */
export function windowOf(
  height: number,
  width: number,
  sliding: Sliding,
  input: ImageExtents,
  output: ImageExtents,
): Window {
  const { paddingTop, paddingLeft } = sliding;
  const window: Window = {
    height,
    width,
    strideHeight: output.height === 1 ? 1 : sliding.strideHeight,
    strideWidth: output.width === 1 ? 1 : sliding.strideWidth,
    dilationHeight: height === 1 ? 1 : sliding.dilationHeight,
    dilationWidth: width === 1 ? 1 : sliding.dilationWidth,
    paddingTop,
    paddingLeft,
  };
  const reach = (extent: number, stride: number, dilation: number, padding: number) =>
    4 * input.channels * (extent * dilation + stride + Math.abs(padding));
  const down = reach(height, window.strideHeight, window.dilationHeight, paddingTop) * input.width;
  const across = reach(width, window.strideWidth, window.dilationWidth, paddingLeft);
  if (Math.max(down, across) > mostReach) refuse("its strides, dilations and paddings reach too far");
  return window;
}

/** Each channel `count` times, side by side. */
function repeatChannels(builder: Builder, image: Value, count: number): Value {
  const { batches, height, width, channels } = extentsOf(image);
  const result = builder.value(image.type, [batches, height, width, channels * count]);
  const shape = [batches * height * width * channels, count];
  const copy: Expression = element(0, image.type === "f32" ? "f32" : "i32");
  addElementwise(
    builder,
    "repeat",
    [{ ...image, dimensions: [shape[0] ?? 1, 1] }],
    { ...result, dimensions: shape },
    copy,
  );
  return result;
}
