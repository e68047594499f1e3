/**
 * The common parts of the two resizing operations: operand lists, the size of the result, and the position of each output pixel in
 * the input. Positions are computed in float32, as the HAL's own executor does, so that both pick the same pixels.
 */
import { alternative, defineOperation, type Operation } from "../define.ts";
import { ensure } from "../fail.ts";
import { clamp, roundHalfAway, roundHalfEven } from "../fixed-point.ts";
import { bool, type FixedParam, int32, optional, scalar, tensor } from "../params.ts";
import type { KernelResult } from "../phases.ts";
import type { OutputTensor, Tensor } from "../tensor.ts";
import type { WorkKind } from "../work.ts";
import { imageDimensions, imageLayout } from "./_image.ts";

/** Which points of input and output coincide; not both. Neither: the outer corners of the first pixels. */
export interface ResizeAlignment {
  /** The centres of the corner pixels. */
  readonly alignCorners: boolean;
  /** The outer corners of the images, pixels being squares around their centres. */
  readonly halfPixelCenters: boolean;
}

/** Computes an output that has elements. */
export type Resample = (input: Tensor, output: OutputTensor, nchw: boolean, alignment: ResizeAlignment) => KernelResult;

/** Defines a resizing operation. `since`: the version that introduced it for TENSOR_FLOAT32, with sizes. */
export function resizeOperation<const Name extends string>(
  spec: Pick<Operation, "code" | "summary"> & { readonly name: Name; readonly work?: WorkKind },
  since: "1.0" | "1.2",
  layout: FixedParam<"nchw", "boolean">,
  resample: Resample,
) {
  const last = [
    layout,
    optional("1.3", bool("alignCorners"), false),
    optional("1.3", bool("halfPixelCenters"), false),
  ] as const;
  return defineOperation({
    ...spec,
    params: [tensor("input"), int32("width"), int32("height"), ...last],
    outputs: [tensor("output")],
    types: [
      [since, "TENSOR_FLOAT32", "TENSOR_FLOAT32"],
      ["1.2", "TENSOR_FLOAT16", "TENSOR_FLOAT16"],
      ["1.2", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM"],
      ["1.3", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT8_ASYMM_SIGNED"],
    ],
    ranks: { input: 4 },
    alternatives: [
      alternative({
        params: [tensor("input"), scalar("widthScale"), scalar("heightScale"), ...last],
        types: [
          ["1.2", "TENSOR_FLOAT32", "FLOAT32", "FLOAT32", "TENSOR_FLOAT32"],
          ["1.2", "TENSOR_FLOAT16", "FLOAT16", "FLOAT16", "TENSOR_FLOAT16"],
          ["1.2", "TENSOR_QUANT8_ASYMM", "FLOAT32", "FLOAT32", "TENSOR_QUANT8_ASYMM"],
          ["1.3", "TENSOR_QUANT8_ASYMM_SIGNED", "FLOAT32", "FLOAT32", "TENSOR_QUANT8_ASYMM_SIGNED"],
        ],
        normalise({ input, nchw, widthScale, heightScale }) {
          const from = imageLayout(input.dimensions, nchw);
          const width = Math.floor(Math.fround(from.width * widthScale));
          const height = Math.floor(Math.fround(from.height * heightScale));
          return { width, height };
        },
      }),
    ],
    infer({ input, width, height, nchw, alignCorners, halfPixelCenters }) {
      const from = imageLayout(input.dimensions, nchw);
      ensure(!(alignCorners && halfPixelCenters), () => "alignCorners and halfPixelCenters are both true");
      ensure(from.channels >= 1, () => "the input has no channels");
      ensureExtent("input's height", from.height);
      ensureExtent("input's width", from.width);
      ensureExtent("output's height", height);
      ensureExtent("output's width", width);
      const dimensions = imageDimensions({ ...from, height, width }, nchw);
      return { output: { dimensions, scale: input.scale, zeroPoint: input.zeroPoint } };
    },
    reference({ input, nchw, ...alignment }, { output }) {
      return output.data.length === 0 ? undefined : resample(input, output, nchw, alignment);
    },
  });
}

function ensureExtent(what: string, extent: number): void {
  ensure(extent >= 1 && extent <= 0x7fff_ffff, () => `the ${what} is ${extent}, not within 1 to 2147483647`);
}

/** The distance in the input of two neighbours in the output along an axis: a float32. */
function stepOf(input: number, output: number, { alignCorners }: ResizeAlignment): number {
  return Math.fround(alignCorners && output > 1 ? (input - 1) / (output - 1) : input / output);
}

/** The position in the input of an output index along an axis: a float32 from 0 to about the input's extent. */
export function sourcePosition(input: number, output: number, alignment: ResizeAlignment) {
  const step = stepOf(input, output, alignment);
  const shift = alignment.halfPixelCenters ? 0.5 : 0;
  return (index: number): number => Math.fround(Math.fround(index + shift) * step);
}

/** The shares of neighbours between 8-bit elements are counted in steps of one 2048th of a pixel. */
export const RESIZE_STEPS = 2048;

/** Along one axis, for each of the output's indexes the input's two neighbours, and the share of the second. */
export interface Neighbours {
  readonly before: Int32Array;
  readonly after: Int32Array;
  readonly share: Float64Array;
}

/** The neighbours between which RESIZE_BILINEAR interpolates floats along an axis. */
export function neighboursOf(input: number, output: number, alignment: ResizeAlignment): Neighbours {
  const position = sourcePosition(input, output, alignment);
  const half = alignment.halfPixelCenters ? 0.5 : 0;
  return neighboursAt(input, output, (index) => Math.fround(position(index) - half));
}

/**
 * The neighbours between which RESIZE_BILINEAR interpolates 8-bit elements along an axis, with shares in whole steps of 1 / RESIZE_STEPS. With
 * them a result is the same on every engine: the sum of four elements, each times the steps of its row and column, is a whole number of less than 31
 * bits, and the result that number divided by RESIZE_STEPS squared, halves up. TensorFlow Lite's engine counts in the same steps.
 */
export function neighboursInSteps(input: number, output: number, alignment: ResizeAlignment): Neighbours {
  const step = stepOf(input, output, alignment);
  const shift = alignment.halfPixelCenters ? Math.fround(Math.fround(0.5 * step) - 0.5) : 0;
  const position = (index: number) => clamp(Math.fround(Math.fround(index * step) + shift), 0, input - 1);
  const neighbours = neighboursAt(input, output, position);
  return { ...neighbours, share: neighbours.share.map((share) => roundHalfEven(share * RESIZE_STEPS)) };
}

/** The neighbours of places in the input. Outside the centres of the first and last pixels there is nothing to interpolate. */
function neighboursAt(input: number, output: number, placeOf: (index: number) => number): Neighbours {
  const places = Float64Array.from({ length: output }, (_, index) => placeOf(index));
  const before = Int32Array.from(places, (place) => clamp(Math.floor(place), 0, input - 1));
  const after = before.map((index) => Math.min(index + 1, input - 1));
  return { before, after, share: places.map((place, index) => clamp(place - before[index], 0, 1)) };
}

/**
 * Which index of the input RESIZE_NEAREST_NEIGHBOR takes for an index of the output, along an axis with these extents. For engines that
 * round differently.
 */
export function nearestSource(input: number, output: number, alignment: ResizeAlignment): (index: number) => number {
  const position = sourcePosition(input, output, alignment);
  const round = alignment.alignCorners ? roundHalfAway : Math.floor;
  return (index) => clamp(round(position(index)), 0, input - 1);
}
