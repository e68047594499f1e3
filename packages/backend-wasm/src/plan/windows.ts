/** Windows that slide over an image: the rows of a product that they are, and the parts of an output whose windows see the same cells of the filter. */
import type { KernelTensor } from "@nnhal/backend";
import { dilatedExtent, isFloat, type Padding, stridesOf, type TensorInfo } from "@nnhal/operations";
import { addElementwise, addMove, type Builder, operandOf, type Value } from "./builder.ts";
import { makeInteger, real } from "./expression.ts";
import type { ImageExtents, Segment } from "./plan.ts";
import { refuse } from "./refusal.ts";
import { addProduct, type Weighted } from "./weighted.ts";

/** The extents of an image in NHWC. */
export function extentsOf({ dimensions }: Pick<Value, "dimensions">): ImageExtents {
  const [batches = 1, height = 1, width = 1, channels = 1] = dimensions;
  return { batches, height, width, channels };
}

/** A copy of an image with some value around it, of these extents; the image itself if they are its own. */
function surround(
  builder: Builder,
  image: Value,
  top: number,
  left: number,
  height: number,
  width: number,
  around: number,
): Value {
  const [batches = 1, ownHeight = 1, ownWidth = 1, channels = 1] = image.dimensions;
  if (ownHeight >= height && ownWidth >= width && top === 0 && left === 0) return image;
  const result = builder.value(image.type, [
    batches,
    Math.max(height, top + ownHeight),
    Math.max(width, left + ownWidth),
    channels,
  ]);
  addElementwise(builder, "pad", [], result, image.type === "f32" ? real(around) : makeInteger(around), 1);
  const strides = stridesOf(result.dimensions);
  const offset = top * (strides[1] ?? 0) + left * (strides[2] ?? 0);
  addMove(
    builder,
    "pad",
    image.dimensions,
    operandOf(image, stridesOf(image.dimensions)),
    operandOf(result, strides, offset),
  );
  return result;
}

/** Strides, dilation and padding of a window. */
export interface Sliding extends Padding {
  readonly strideWidth: number;
  readonly strideHeight: number;
  readonly dilationWidth: number;
  readonly dilationHeight: number;
}

/** More cells than this, of all parts together, would make too much code. */
export const mostCells = 2048;

/** The parts of an axis whose windows see the same cells. An axis may be long: only places where the cells change are looked at. */
export function segmentsOf(
  count: number,
  extent: number,
  cells: number,
  stride: number,
  dilation: number,
  padding: number,
): Segment[] {
  const found: Segment[] = [];
  /** The first index whose window begins at a pixel or behind it. */
  const indexFor = (pixel: number) => Math.ceil((pixel + padding) / stride);
  for (let index = 0; index < count; ) {
    const begin = index * stride - padding;
    const firstTap = Math.min(cells, Math.max(0, Math.ceil(-begin / dilation)));
    const inside = Math.min(cells, Math.ceil((extent - begin) / dilation));
    const endTap = Math.max(firstTap, inside);
    // One more cell is inside at the front, or one fewer at the end.
    const changes = [indexFor((1 - firstTap) * dilation), indexFor(extent - (inside - 1) * dilation)];
    const end = Math.min(count, ...changes.filter((change) => change > index));
    const last = found.at(-1);
    if (last?.firstTap === firstTap && last.endTap === endTap) found[found.length - 1] = { ...last, end };
    else found.push({ begin: index, end, firstTap, endTap });
    if (found.length > mostCells) refuse("its borders make more code than there may be");
    index = end;
  }
  return found;
}

/** The rows of a product that are the cells under each window. */
export function rowsUnder(
  builder: Builder,
  image: Value,
  input: TensorInfo,
  target: Value,
  height: number,
  width: number,
  sliding: Sliding,
) {
  const { height: outHeight, width: outWidth, batches } = extentsOf(target);
  const { dilationHeight, dilationWidth, paddingTop, paddingLeft } = sliding;
  // A stride counts only where there are several places.
  const [strideHeight, strideWidth] = [
    outHeight === 1 ? 1 : sliding.strideHeight,
    outWidth === 1 ? 1 : sliding.strideWidth,
  ];
  // Padding below 0 leaves out the first pixels.
  const [skippedRows, skippedColumns] = [Math.max(0, -paddingTop), Math.max(0, -paddingLeft)];
  const neededHeight = skippedRows + (outHeight - 1) * strideHeight + dilatedExtent(height, dilationHeight);
  const neededWidth = skippedColumns + (outWidth - 1) * strideWidth + dilatedExtent(width, dilationWidth);
  const around = image.type === "f32" ? 0 : input.zeroPoint;
  const whole = surround(
    builder,
    image,
    Math.max(0, paddingTop),
    Math.max(0, paddingLeft),
    neededHeight,
    neededWidth,
    around,
  );
  const extents = extentsOf(whole);
  const rowOf = extents.width * extents.channels;
  const runs: number[] = [];
  for (let i = 0; i < height; i++) {
    const row = (skippedRows + i * dilationHeight) * rowOf + skippedColumns * extents.channels;
    if (dilationWidth === 1) runs.push(row);
    else for (let j = 0; j < width; j++) runs.push(row + j * dilationWidth * extents.channels);
  }
  const source = {
    region: whole.region,
    type: whole.type,
    width: outWidth,
    height: outHeight,
    pixelStep: strideWidth * extents.channels,
    rowStep: strideHeight * rowOf,
    batchStep: extents.height * rowOf,
    runs,
    length: (dilationWidth === 1 ? width : 1) * extents.channels,
  };
  return { source, rows: batches * outHeight * outWidth };
}

/** A value as a tensor that lowerings read. */
export function valueAsTensor(builder: Builder, info: TensorInfo, value: Value): KernelTensor {
  const index = -1 - value.region;
  builder.places.set(index, value.region);
  const { type, scale, zeroPoint, channelQuant } = info;
  return { type, scale, zeroPoint, ...(channelQuant && { channelQuant }), dimensions: value.dimensions, index };
}

/** True if weights are not constant floats that are finite. */
export function mayBeInfinite({ data, type }: KernelTensor): boolean {
  if (!isFloat(type)) return false;
  let sum = 0;
  for (const number of data ?? [Number.NaN]) sum += Number(number) * 0;
  return sum !== 0;
}

/** The factors and terms of a convolution, and the use of its sums. */
export type Convolved = Omit<Weighted, "weights" | "channels"> & {
  /** [channels, height, width, depth]. */
  readonly filter: KernelTensor;
  /** Parts of the channels, of which each sees another part of the depth of the image. Default: 1. */
  readonly groups?: number;
};

/** More products than this would make too much code. */
export const mostProducts = 512;

/** Adds the products of the windows over an image with a filter. Those at its borders see zeros around it. */
export function addWindows(
  builder: Builder,
  name: string,
  { filter, groups = 1, ...factors }: Convolved,
  image: Value,
  sliding: Sliding,
  target: Value,
): void {
  const [channels = 0, height = 1, width = 1, depth = 1] = filter.dimensions;
  const size = height * width * depth;
  const { source, rows } = rowsUnder(builder, image, factors.input, target, height, width, sliding);
  if (groups === 1) {
    const weights = { filter, depth: size, columns: channels, depthStep: 1, columnStep: size };
    addProduct(builder, name, { ...factors, weights }, rows, source, target);
    return;
  }
  const columns = channels / groups;
  const inputDepth = depth * groups;
  const perRun = source.length / inputDepth;
  const cells = source.runs.flatMap((run) => Array.from({ length: perRun }, (_, cell) => run + cell * inputDepth));
  for (let group = 0; group < groups; group++) {
    const first = group * columns;
    const weights = { filter, depth: size, columns, depthStep: 1, columnStep: size, first: first * size };
    const part = { ...source, runs: cells.map((cell) => cell + group * depth), length: depth };
    const result = builder.value(target.type, [rows, columns]);
    addProduct(builder, name, { ...factors, weights, channels: { first, all: channels } }, rows, part, result);
    addMove(builder, name, [rows, columns], operandOf(result, [columns, 1]), operandOf(target, [channels, 1], first));
  }
}
