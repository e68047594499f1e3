/**
 * RESIZE_BILINEAR for INT16, and for sizes that are computed. Between 16-bit elements positions count in steps of 2^-10 of a pixel, as
 * .tflite computes them: a finer position would differ by many steps of the result.
 */

import type { DefinitionArgs, DefinitionOutputs } from "../definition-args.ts";
import { roundHalfAway } from "../fixed-point.ts";
import type { Phase } from "../phases.ts";
import type { OutputTensor, Tensor } from "../tensor.ts";
import { imageLayout } from "./_image.ts";
import { defineResize, resizedTypes } from "./_resize.tflite.ts";
import { resizeBilinear as base } from "./resize-bilinear.ts";

type Args = DefinitionArgs<typeof base, Tensor>;
type Outputs = DefinitionOutputs<typeof base, OutputTensor>;

/** Steps of a position in a pixel. */
const STEPS = 1 << 10;

export const resizeBilinear = defineResize(base, resizedTypes, (args, outputs, context) =>
  // The engine passes the records that the operand list describes.
  (args as unknown as Args).input.type === "TENSOR_QUANT16_SYMM"
    ? resample(args as unknown as Args, outputs as unknown as Outputs)
    : base.reference?.(args, outputs, context),
);

/** Along one axis, for each of the output's indexes the input's two neighbours, and the share of the second in steps. */
interface Neighbours {
  readonly before: Int32Array;
  readonly after: Int32Array;
  readonly share: Int32Array;
}

function neighbours(input: number, output: number, alignCorners: boolean, halfPixelCenters: boolean): Neighbours {
  const isAligned = alignCorners && output > 1;
  const [from, to] = isAligned ? [input - 1, output - 1] : [input, output];
  const step = Math.trunc((STEPS * from + Math.trunc(to / 2)) / to);
  const shift = halfPixelCenters ? Math.trunc(step / 2) - STEPS / 2 : 0;
  const before = new Int32Array(output);
  const after = new Int32Array(output);
  const share = new Int32Array(output);
  for (let index = 0; index < output; index++) {
    const position = index * step + shift;
    before[index] = Math.min(Math.max(0, Math.trunc(position / STEPS)), input - 1);
    after[index] = Math.min(Math.trunc((position + STEPS - 1) / STEPS), input - 1);
    share[index] = position - STEPS * before[index];
  }
  return { before, after, share };
}

function resample({ input, nchw, alignCorners, halfPixelCenters }: Args, { output }: Outputs): Phase {
  const { data } = input;
  const from = imageLayout(input.dimensions, nchw);
  const to = imageLayout(output.dimensions, nchw);
  const rows = neighbours(from.height, to.height, alignCorners, halfPixelCenters);
  const columns = neighbours(from.width, to.width, alignCorners, halfPixelCenters);
  // A unit is a pixel of the output.
  const compute = (first: number, end: number) => {
    for (let unit = first; unit < end; unit++) {
      const [row, x] = [Math.floor(unit / to.width), unit % to.width];
      const [batch, y] = [Math.floor(row / to.height), row % to.height];
      const start = batch * from.batchStep;
      const upper = start + rows.before[y] * from.rowStep;
      const lower = start + rows.after[y] * from.rowStep;
      const down = rows.share[y];
      const left = columns.before[x] * from.pixelStep;
      const right = columns.after[x] * from.pixelStep;
      const across = columns.share[x];
      let target = batch * to.batchStep + y * to.rowStep + x * to.pixelStep;
      for (let offset = 0; offset < to.channels * from.channelStep; offset += from.channelStep) {
        const above = data[upper + left + offset] * (STEPS - across) + data[upper + right + offset] * across;
        const below = data[lower + left + offset] * (STEPS - across) + data[lower + right + offset] * across;
        output.data[target] = roundHalfAway((above * (STEPS - down) + below * down) / STEPS ** 2);
        target += to.channelStep;
      }
    }
  };
  return { units: to.batches * to.height * to.width, cost: 16 * (to.channels + 1), apart: true, compute };
}
