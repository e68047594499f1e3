/** Pools: windows that slide over an image. */
import type { KernelTensor } from "@nnhal/backend";
import { whyTooManySummed } from "@nnhal/backend/float32";
import {
  type AnyArgs,
  imageLayout,
  OperationError,
  type Padding,
  quantisedActivationRange,
  type TensorInfo,
} from "@nnhal/operations";
import * as tf from "@tensorflow/tfjs-core";
import { fromNhwc, toNhwc } from "./_image.ts";
import { firstOf, floatKernel, isTensorInfo, type Read, rank4, storedKernel } from "./_kernel.ts";
import { activate, isQuantised, roundAway } from "./_quantised.ts";

interface Pool extends Padding {
  readonly input: KernelTensor;
  readonly strideWidth: number;
  readonly strideHeight: number;
  readonly filterWidth: number;
  readonly filterHeight: number;
  readonly activation: number;
  readonly nchw: boolean;
}

/** The most cells of a window: the WebAssembly engine visits all of them, including the padding. */
const mostCells = 2 ** 20;

/** Why a window is not available; undefined if it is, or if it is not known yet. */
function windowProblem({ filterHeight, filterWidth }: AnyArgs): string | undefined {
  if (typeof filterHeight !== "number" || typeof filterWidth !== "number") return undefined;
  return filterHeight * filterWidth > mostCells
    ? `a window of ${filterHeight}x${filterWidth} is not available, only such of at most ${mostCells} cells`
    : undefined;
}

/** Why the averages of 8 bits under a window are not available. Cells of the padding do not count. */
function averageProblem(args: AnyArgs): string | undefined {
  const { input, nchw, filterHeight, filterWidth } = args;
  if (!isTensorInfo(input) || typeof filterHeight !== "number" || typeof filterWidth !== "number") return undefined;
  const { height, width } = imageLayout(input.dimensions, nchw === true);
  return windowProblem(args) ?? whyTooManySummed(Math.min(height, filterHeight) * Math.min(width, filterWidth));
}

type Explicit = [[0, 0], [number, number], [number, number], [0, 0]];
type Slide = (
  image: tf.Tensor4D,
  window: [number, number],
  strides: [number, number],
  pad: "valid" | Explicit,
) => tf.Tensor4D;

function slider({ input, nchw, ...args }: Pool, slide: Slide): (read: Read) => tf.Tensor4D {
  const problem = windowProblem(args);
  if (problem !== undefined) throw new OperationError(problem);
  const { paddingTop, paddingBottom, paddingLeft, paddingRight } = args;
  const window: [number, number] = [args.filterHeight, args.filterWidth];
  const strides: [number, number] = [args.strideHeight, args.strideWidth];
  const explicit: Explicit = [
    [0, 0],
    [paddingTop, paddingBottom],
    [paddingLeft, paddingRight],
    [0, 0],
  ];
  const pad = paddingTop + paddingBottom + paddingLeft + paddingRight === 0 ? "valid" : explicit;
  return (read) => slide(toNhwc(read(input), nchw), window, strides, pad);
}

function floatPool(slide: Slide) {
  return floatKernel({
    refuse: windowProblem,
    prepare(args: Pool) {
      const run = slider(args, slide);
      return (read) => fromNhwc(activate(run(read), args.activation), args.nchw);
    },
  });
}

/** Quantised tensors are pooled as stored, because the quantisation does not change; averages are rounded by `round`. */
function pool(
  slide: Slide,
  round: (pooled: tf.Tensor4D, args: Pool) => tf.Tensor = (pooled) => pooled,
  problemOf: (args: AnyArgs) => string | undefined = windowProblem,
) {
  const quantised = storedKernel({
    accepts: isQuantised,
    refuse: problemOf,
    prepare(args: Pool, { output }: { readonly output: TensorInfo }) {
      const problem = problemOf({ ...args });
      if (problem !== undefined) throw new OperationError(problem);
      const run = slider(args, slide);
      const [least, greatest] = quantisedActivationRange(args.activation, output);
      return (read) => fromNhwc(rank4(tf.clipByValue(round(run(read), args), least, greatest)), args.nchw);
    },
  });
  return firstOf(floatPool(slide), quantised);
}

/**
 * Averages of whole numbers are rounded with ties away from 0. Those of up to n cells are multiples of 1/n or of a greater part, so that
 * 1/4n tells ties from others, although the engine multiplies by a rounded 1/n.
 */
const roundedAverages = (averages: tf.Tensor4D, { filterHeight, filterWidth }: Pool) =>
  roundAway(averages, 1 / (4 * filterHeight * filterWidth));

export const averagePool2d = pool(
  (image, ...sliding) => tf.avgPool(image, ...sliding),
  roundedAverages,
  averageProblem,
);
export const maxPool2d = pool((image, ...sliding) => tf.maxPool(image, ...sliding));
/** √ of the mean of the squares under the window. */
export const l2Pool2d = floatPool((image, ...sliding) => tf.sqrt(tf.avgPool(tf.square(image), ...sliding)));
