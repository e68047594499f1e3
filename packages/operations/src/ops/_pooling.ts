/**
 * The common parts of the three pools: everything except how the cells under a window become one value.
 */
import { activationRange, quantisedActivationRange } from "../activation.ts";
import { alternative, defineOperation, type Operation, type RowOfLength } from "../define.ts";
import { clamp, roundHalfAway } from "../fixed-point.ts";
import { bool, int32, optional, tensor } from "../params.ts";
import { isFloat, type OutputTensor } from "../tensor.ts";
import type { Padding } from "../window.ts";
import { convolvedShape, type Sliding, WORK_BETWEEN_PAUSES } from "./_convolution.ts";
import { implicitImagePadding, paddingParams, strideParams } from "./_convolution-params.ts";
import { type Image, imageLayout, readImage } from "./_image.ts";

/** How the cells under a window become one value, channel by channel. */
export interface Pooling {
  /** The value before the first cell. */
  readonly start: number;
  /** Adds cells of a row to the values. A cell is `values.length` elements of `data`; the first begins at `from`, the last at `to`. */
  take(values: Float64Array, data: Float64Array, from: number, to: number, step: number): void;
  /** The result of `count` cells. */
  finish(value: number, count: number): number;
}

const sizes = [...strideParams, int32("filterWidth"), int32("filterHeight"), int32("activation")] as const;
const layout = optional("1.2", bool("nchw"), false);

/** Defines a pool. */
export function poolOperation<const Name extends string>(
  spec: Pick<Operation, "code" | "summary"> & { readonly name: Name; readonly types: readonly RowOfLength<2>[] },
  pooling: Pooling,
) {
  return defineOperation({
    ...spec,
    params: [tensor("input"), ...paddingParams, ...sizes, layout],
    outputs: [tensor("output")],
    ranks: { input: 4 },
    work: "functionElement",
    alternatives: [
      alternative({
        params: [tensor("input"), int32("paddingScheme"), ...sizes, layout],
        normalise: (args) => implicitImagePadding(args.paddingScheme, args, args.filterHeight, args.filterWidth),
      }),
    ],
    infer({ input, filterHeight, filterWidth, nchw, ...padded }) {
      const { dimensions, scale, zeroPoint } = input;
      const { channels } = imageLayout(dimensions, nchw);
      const filter = [1, filterHeight, filterWidth, channels];
      return {
        output: { dimensions: convolvedShape(dimensions, filter, channels, undilated(padded), nchw), scale, zeroPoint },
      };
    },
    *reference({ input, nchw, ...window }, { output }) {
      // The mean of quantised values is that of their elements: zero points can stay in.
      const image = yield* readImage({ data: input.data, dimensions: input.dimensions, zeroPoint: 0 }, nchw);
      yield* pool(image, window, pooling, nchw, output);
    },
  });
}

type Strides = Pick<Sliding, "strideWidth" | "strideHeight">;

function undilated(padded: Padding & Strides): Sliding {
  return { ...padded, dilationWidth: 1, dilationHeight: 1 };
}

/** Cells outside the image do not count: neither their values nor their number. */
function* pool(
  image: Image,
  window: Padding & Strides & { filterWidth: number; filterHeight: number; activation: number },
  pooling: Pooling,
  nchw: boolean,
  output: OutputTensor,
): Generator<void, void> {
  const { strideWidth, strideHeight, paddingLeft, paddingTop, filterWidth, filterHeight, activation } = window;
  const to = imageLayout(output.dimensions, nchw);
  const values = new Float64Array(image.channels);
  const finish = finisher(pooling, activation, output);
  const cellsBetweenPauses = Math.max(1, Math.floor(WORK_BETWEEN_PAUSES / image.channels));
  let cells = 0;
  for (let batch = 0; batch < to.batches; batch++) {
    for (let y = 0; y < to.height; y++) {
      const top = Math.max(0, y * strideHeight - paddingTop);
      const bottom = Math.min(image.height, y * strideHeight - paddingTop + filterHeight);
      for (let x = 0; x < to.width; x++) {
        const left = Math.max(0, x * strideWidth - paddingLeft);
        const right = Math.min(image.width, x * strideWidth - paddingLeft + filterWidth);
        values.fill(pooling.start);
        for (let row = top; row < bottom; row++) {
          const begin = batch * image.batchStep + row * image.rowStep;
          let column = left;
          while (column < right) {
            const end = Math.min(right, column + cellsBetweenPauses - cells);
            pooling.take(
              values,
              image.data,
              begin + column * image.pixelStep,
              begin + (end - 1) * image.pixelStep,
              image.pixelStep,
            );
            cells += end - column;
            column = end;
            if (cells === cellsBetweenPauses) {
              cells = 0;
              yield;
            }
          }
        }
        const start = batch * to.batchStep + y * to.rowStep + x * to.pixelStep;
        finish(values, (bottom - top) * (right - left), start, to.channelStep);
      }
    }
  }
}

/** Stores the results of one output pixel. */
function finisher(pooling: Pooling, activation: number, output: OutputTensor) {
  const { data } = output;
  const float = isFloat(output.type);
  const [least, greatest] = float ? activationRange(activation) : quantisedActivationRange(activation, output);
  return (values: Float64Array, count: number, start: number, step: number) => {
    for (let channel = 0; channel < values.length; channel++) {
      const value = pooling.finish(values[channel], count);
      data[start + channel * step] = clamp(float ? value : roundHalfAway(value), least, greatest);
    }
  };
}
