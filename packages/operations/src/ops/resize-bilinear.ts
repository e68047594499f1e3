/**
 * RESIZE_BILINEAR: an image in another size, interpolated linearly along both axes. Facts: HAL 1.3 types.hal,
 * RESIZE_BILINEAR. The size is given as width, height or, since HAL 1.2, as their ratios.
 */
import { OperationType } from "@nnhal/types";
import { bool, optional } from "../params.ts";
import { isFloat, type OutputTensor, type Tensor } from "../tensor.ts";
import { WORK_BETWEEN_PAUSES } from "./_convolution.ts";
import { imageLayout, readImage } from "./_image.ts";
import {
  type Neighbours,
  neighboursInParts,
  neighboursInSteps,
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
function* resampleLinear(input: Tensor, output: OutputTensor, nchw: boolean, alignment: ResizeAlignment) {
  const image = yield* readImage(input, nchw);
  const to = imageLayout(output.dimensions, nchw);
  const { data } = image;
  const float = isFloat(output.type);
  const one = float ? 1 : RESIZE_STEPS;
  const along = float ? neighboursInParts : stepsBetween;
  const rows = yield* along(image.height, to.height, alignment);
  const columns = yield* along(image.width, to.width, alignment);
  let work = 0;
  for (let batch = 0; batch < to.batches; batch++) {
    const start = batch * image.batchStep;
    for (let y = 0; y < to.height; y++) {
      const upper = start + rows.before[y] * image.rowStep;
      const lower = start + rows.after[y] * image.rowStep;
      const down = rows.share[y];
      for (let x = 0; x < to.width; x++) {
        const left = columns.before[x] * image.pixelStep;
        const right = columns.after[x] * image.pixelStep;
        const across = columns.share[x];
        let target = batch * to.batchStep + y * to.rowStep + x * to.pixelStep;
        for (let channel = 0; channel < to.channels; channel++) {
          const above = mix(data[upper + left + channel], data[upper + right + channel], across, one);
          const below = mix(data[lower + left + channel], data[lower + right + channel], across, one);
          const value = mix(above, below, down, one);
          output.data[target] = float ? value : Math.floor(value / one ** 2 + 0.5) + output.zeroPoint;
          target += to.channelStep;
        }
        work += 4 * to.channels;
        if (work > WORK_BETWEEN_PAUSES) {
          work = 0;
          yield;
        }
      }
    }
  }
}

/** `one`: the sum of both shares. */
function mix(first: number, second: number, share: number, one: number): number {
  return first * (one - share) + second * share;
}

/** Pauses once: the loop of an axis is short beside that of the elements. */
function* stepsBetween(input: number, output: number, alignment: ResizeAlignment): Generator<void, Neighbours> {
  yield;
  return neighboursInSteps(input, output, alignment);
}
