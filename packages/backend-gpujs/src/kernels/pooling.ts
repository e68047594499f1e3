/** Pools: windows that slide over an image. */
import type { KernelTensor } from "@nnhal/backend";
import { whyTooManySummed } from "@nnhal/backend/float32";
import {
  type AnyArgs,
  OperationError,
  type Padding,
  quantisedActivationRange,
  type TensorInfo,
} from "@nnhal/operations";
import { imageOf, placeOf } from "./_image.ts";
import { indexAt, literal, times } from "./_index.ts";
import { type GpujsTable, isReal, kernelOf } from "./_kernel.ts";
import { activate, isTensor } from "./_pointwise.ts";
import { clampToRange, isQuantised, roundedAway } from "./_quantised.ts";
import { walkWindow, where } from "./_window.ts";

interface Pool extends Padding {
  readonly input: KernelTensor;
  readonly strideWidth: number;
  readonly strideHeight: number;
  readonly filterWidth: number;
  readonly filterHeight: number;
  readonly activation: number;
  readonly nchw: boolean;
}

interface Pooling {
  readonly start: number;
  /** The new value after a cell's `element`, from the `value` so far. */
  take(value: string, element: string): string;
  /** True if the stored elements are summed. Default: false. */
  readonly isAverage?: boolean;
  /** The result of `count` cells; cells of the padding do not count. */
  finish(value: string, count: string): string;
}

/** Why the averages of 8 bits under a window are not available. Cells of the padding do not count. */
function averageProblem({ input, nchw, filterHeight, filterWidth }: AnyArgs): string | undefined {
  if (!isTensor(input) || !isQuantised(input.type)) return undefined;
  if (typeof filterHeight !== "number" || typeof filterWidth !== "number") return undefined;
  const { height, width } = imageOf(input.dimensions, nchw === true);
  return whyTooManySummed(Math.min(height, filterHeight) * Math.min(width, filterWidth));
}

function pool({ start, take, finish, isAverage = false }: Pooling) {
  return kernelOf({
    accepts: isReal,
    ...(isAverage && { refuse: averageProblem }),
    // The quantisation does not change: the mean and the maximum of stored numbers are those of the real ones.
    stored: true,
    prepare(args: Pool, { output }: { readonly output: TensorInfo }, make) {
      const problem = isAverage ? averageProblem({ ...args }) : undefined;
      if (problem !== undefined) throw new OperationError(problem);
      const { input, nchw, filterHeight: height, filterWidth: width } = args;
      const image = imageOf(input.dimensions, nchw);
      const window = { ...args, height, width, dilationHeight: 1, dilationWidth: 1 };
      return make.output((writer) => {
        const { line, index, read } = writer;
        const place = placeOf(writer.at, nchw);
        const from = read(input);
        const channel = index(times(image.channelStep, place.channel));
        line(`let value = ${literal(start)};\nlet count = 0;`);
        walkWindow(writer, image, window, place, (pixel, _, inside) => {
          where(writer, inside, () => {
            const x = writer.define(from(indexAt([pixel, channel], [1, 1])));
            line(`value = ${take("value", x)};\ncount += 1;`);
          });
        });
        const value = finish("value", "count");
        if (!isQuantised(output.type)) return activate(value, args.activation);
        return clampToRange(roundedAway(writer, value), quantisedActivationRange(args.activation, output));
      });
    },
  });
}

export const poolingKernels = {
  AVERAGE_POOL_2D: pool({
    isAverage: true,
    start: 0,
    take: (value, x) => `${value} + ${x}`,
    finish: (value, count) => `${value} / ${count}`,
  }),
  L2_POOL_2D: pool({
    start: 0,
    take: (value, x) => `${value} + ${x} * ${x}`,
    finish: (value, count) => `Math.sqrt(${value} / ${count})`,
  }),
  MAX_POOL_2D: pool({
    start: Number.NEGATIVE_INFINITY,
    take: (value, x) => `Math.max(${value}, ${x})`,
    finish: (value) => value,
  }),
} satisfies GpujsTable;
