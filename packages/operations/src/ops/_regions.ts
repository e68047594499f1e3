/**
 * Regions of interest of ROI_ALIGN and ROI_POOLING: their operand lists, rules, and scaling to the feature map.
 */
import type { RowOfLength } from "../define.ts";
import { ensure } from "../fail.ts";
import { roundHalfAway } from "../fixed-point.ts";
import { int32, scalar, tensor } from "../params.ts";
import { ensureShape } from "../shape.ts";
import type { Tensor, TensorInfo } from "../tensor.ts";
import { imageAxes } from "../window.ts";
import { ensureBatch, ensureBoxScale, ensureOrdered } from "./_boxes.ts";
import { realValuesNow } from "./_real.ts";

/** Types of input, regions, the two strides, and output. */
export const regionTypes: readonly RowOfLength<5>[] = [
  ["1.2", "TENSOR_FLOAT32", "TENSOR_FLOAT32", "FLOAT32", "FLOAT32", "TENSOR_FLOAT32"],
  ["1.2", "TENSOR_FLOAT16", "TENSOR_FLOAT16", "FLOAT16", "FLOAT16", "TENSOR_FLOAT16"],
  ["1.2", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT16_ASYMM", "FLOAT32", "FLOAT32", "TENSOR_QUANT8_ASYMM"],
  ["1.3", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_ASYMM", "FLOAT32", "FLOAT32", "TENSOR_QUANT8_ASYMM_SIGNED"],
];

/** The first operands of both lists. */
export const regionParams = [
  tensor("input"),
  tensor("regions"),
  tensor("batches", "TENSOR_INT32"),
  int32("outputHeight"),
  int32("outputWidth"),
  scalar("heightStride"),
  scalar("widthStride"),
] as const;

/** The scalars of both operations. */
export interface RegionSettings {
  readonly outputHeight: number;
  readonly outputWidth: number;
  /** Pixels of the image for one of the feature map. */
  readonly heightStride: number;
  readonly widthStride: number;
  readonly nchw: boolean;
}

/** The shape of the result, with everything else checked. */
export function regionsShape(
  input: TensorInfo,
  regions: TensorInfo,
  batches: TensorInfo,
  { outputHeight, outputWidth, heightStride, widthStride, nchw }: RegionSettings,
): number[] {
  const axes = imageAxes(nchw);
  const [count] = regions.dimensions;
  ensureShape("the regions", regions, [count, 4]);
  ensureShape("the batch indexes", batches, [count]);
  ensureBoxScale("the regions", regions);
  for (const [name, value] of Object.entries({ outputHeight, outputWidth, heightStride, widthStride })) {
    ensure(value > 0, () => `${name}: expected a number > 0, got ${value}`);
  }
  ensure(!input.dimensions.includes(0), () => "the feature map has no elements");
  const shape = [count, 0, 0, 0];
  shape[axes.height] = outputHeight;
  shape[axes.width] = outputWidth;
  shape[axes.channel] = input.dimensions[axes.channel];
  return shape;
}

/** A region in units of the feature map. */
export interface Region {
  readonly batch: number;
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
}

/** All regions in units of the feature map; refuses those that do not lie in it. */
export function scaledRegions(input: TensorInfo, regions: Tensor, batches: Tensor, settings: RegionSettings): Region[] {
  const regionAt = regionReader(input, realValuesNow(regions), batches, settings);
  return Array.from({ length: regions.dimensions[0] }, (_, index) => regionAt(index));
}

/**
 * Returns a function that reads one region, in units of the feature map; it throws an OperationError for a region outside. `corners`:
 * real values.
 */
export function regionReader(
  input: TensorInfo,
  corners: Float64Array,
  batches: Tensor,
  { heightStride, widthStride, nchw }: RegionSettings,
): (index: number) => Region {
  const axes = imageAxes(nchw);
  const height = input.dimensions[axes.height];
  const width = input.dimensions[axes.width];
  return (index) => {
    const at = 4 * index;
    const batch = batches.data[index];
    ensureBatch(batch, input.dimensions[0]);
    ensureOrdered(corners, at);
    const [x1, y1, x2, y2] = [
      corners[at] / widthStride,
      corners[at + 1] / heightStride,
      corners[at + 2] / widthStride,
      corners[at + 3] / heightStride,
    ];
    ensure(
      x1 >= 0 && y1 >= 0 && x2 <= width && y2 <= height,
      () => `region ${index} spans (${x1}, ${y1}) to (${x2}, ${y2}) of a feature map of ${width}x${height}`,
    );
    return { batch, x1, y1, x2, y2 };
  };
}

/**
 * Cuts a region, whose corners are rounded to pixels, into bins along one axis of the feature map: of each the first pixel and the
 * one behind its last, within the feature map.
 */
export function pixelBins(from: number, to: number, bins: number, extent: number): (readonly [number, number])[] {
  const start = roundHalfAway(from);
  const size = Math.max(roundHalfAway(to) - start + 1, 1) / bins;
  // Borders are computed in float32, as in the HAL's reference: so a whole number stays one.
  const border = (at: number) => Math.fround(Math.fround(Math.fround(size) * at) + start);
  return Array.from({ length: bins }, (_, index) => [
    Math.min(Math.floor(border(index)), extent),
    Math.min(Math.ceil(border(index + 1)), extent),
  ]);
}
