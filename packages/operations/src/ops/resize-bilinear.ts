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
  const image = readImage(input, nchw);
  const to = imageLayout(output.dimensions, nchw);
  const along = isFloat(output.type) ? neighboursOf : neighboursInSteps;
  const rows = along(image.height, to.height, alignment);
  const columns = along(image.width, to.width, alignment);
  const compute = (first: number, end: number) => {
    for (let pixel = first; pixel < end; pixel++) interpolatePixel(image, rows, columns, to, pixel, output);
  };
  return [...image.phases, { units: to.batches * to.height * to.width, cost: 16 * to.channels, apart: true, compute }];
}

/** Computes all channels of one pixel of the output, counted in row-major order: two neighbours above, two below, and between them. */
function interpolatePixel(
  image: Image,
  rows: Neighbours,
  columns: Neighbours,
  to: ImageLayout,
  pixel: number,
  output: OutputTensor,
): void {
  const float = isFloat(output.type);
  const one = float ? 1 : RESIZE_STEPS;
  const x = pixel % to.width;
  const y = Math.floor(pixel / to.width) % to.height;
  const batch = Math.floor(pixel / (to.width * to.height));
  const upper = batch * image.batchStep + rows.before[y] * image.rowStep;
  const lower = batch * image.batchStep + rows.after[y] * image.rowStep;
  const left = columns.before[x] * image.pixelStep;
  const right = columns.after[x] * image.pixelStep;
  const [across, down] = [columns.share[x], rows.share[y]];
  const { data } = image;
  let target = batch * to.batchStep + y * to.rowStep + x * to.pixelStep;
  for (let channel = 0; channel < to.channels; channel++) {
    const above = mix(data[upper + left + channel], data[upper + right + channel], across, one);
    const below = mix(data[lower + left + channel], data[lower + right + channel], across, one);
    const value = mix(above, below, down, one);
    output.data[target] = float ? value : Math.floor(value / one ** 2 + 0.5) + output.zeroPoint;
    target += to.channelStep;
  }
}

/** `one`: the sum of both shares. */
function mix(first: number, second: number, share: number, one: number): number {
  return first * (one - share) + second * share;
}
