/**
 * RESIZE_BILINEAR: an image in another size, interpolated linearly along both axes. Facts: HAL 1.3 types.hal,
 * RESIZE_BILINEAR. The size is given as width, height or, since HAL 1.2, as their ratios.
 */
import { OperationType } from "@nnhal/types";
import { bool, optional } from "../params.ts";
import { isFloat, type OutputTensor, type Tensor } from "../tensor.ts";
import { type Image, type ImageLayout, imageLayout, readImage } from "./_image.ts";
import {
  type Neighbours,
  neighboursInSteps,
  neighboursOf,
  RESIZE_STEPS,
  type ResizeAlignment,
  resizeOperation,
} from "./_resize.ts";

export const resizeBilinear = resizeOperation(
  {
    name: "RESIZE_BILINEAR",
    code: OperationType.RESIZE_BILINEAR,
    summary: "Resizes images; every pixel is interpolated between four of the input.",
    work: "functionElement",
  },
  "1.0",
  optional("1.2", bool("nchw"), false),
  resampleLinear,
);

/**
 * output = (1 − t)·((1 − s)·p00 + s·p01) + t·((1 − s)·p10 + s·p11), with s and t the shares of the right and the lower
 * neighbours. Between values of one scale and zero point nothing can leave the type's range. Of 8-bit values s and t are whole steps of 1 / 2048, and
 * halves are rounded up, as in TensorFlow Lite.
 */
function resampleLinear(input: Tensor, output: OutputTensor, nchw: boolean, alignment: ResizeAlignment) {
  const from = readImage(input, nchw);
  const to = imageLayout(output.dimensions, nchw);
  const [along, one] = isFloat(output.type) ? [neighboursOf, 1] : [neighboursInSteps, RESIZE_STEPS];
  const rows = along(from.height, to.height, alignment);
  const columns = along(from.width, to.width, alignment);
  const resampling = { from, to, rows, columns, one, output };
  const compute = (first: number, end: number) => {
    for (let pixel = first; pixel < end; pixel++) interpolatePixel(resampling, pixel);
  };
  const units = to.batches * to.height * to.width;
  return [...from.phases, { units, cost: 16 * to.channels, apart: true, compute }];
}

/** An image in another size. */
interface Resampling {
  readonly from: Image;
  readonly to: ImageLayout;
  readonly rows: Neighbours;
  readonly columns: Neighbours;
  /** The sum of both shares of neighbours. */
  readonly one: number;
  readonly output: OutputTensor;
}

/** Computes all channels of one pixel of the output, counted in row-major order: two neighbours above, two below, and between them. */
function interpolatePixel({ from, to, rows, columns, one, output }: Resampling, pixel: number): void {
  const x = pixel % to.width;
  const y = Math.floor(pixel / to.width) % to.height;
  const batch = Math.floor(pixel / (to.width * to.height));
  const upper = batch * from.batchStep + rows.before[y] * from.rowStep;
  const lower = batch * from.batchStep + rows.after[y] * from.rowStep;
  const left = columns.before[x] * from.pixelStep;
  const right = columns.after[x] * from.pixelStep;
  const { data } = from;
  let target = batch * to.batchStep + y * to.rowStep + x * to.pixelStep;
  for (let channel = 0; channel < to.channels; channel++, target += to.channelStep) {
    const above = mix(data[upper + left + channel], data[upper + right + channel], columns.share[x], one);
    const below = mix(data[lower + left + channel], data[lower + right + channel], columns.share[x], one);
    const value = mix(above, below, rows.share[y], one);
    output.data[target] = one === 1 ? value : Math.floor(value / one ** 2 + 0.5) + output.zeroPoint;
  }
}

/** `one`: the sum of both shares. */
function mix(first: number, second: number, share: number, one: number): number {
  return first * (one - share) + second * share;
}
