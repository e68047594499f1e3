/** Pools: windows that slide over an image. */
import type { KernelTensor } from "@nnhal/backend";
import type { Padding } from "@nnhal/operations";
import * as tf from "@tensorflow/tfjs-core";
import { fromNhwc, toNhwc } from "./_image.ts";
import { floatKernel, realKernel, type TfjsKernel } from "./_kernel.ts";
import { activate } from "./_quantised.ts";

interface Pool extends Padding {
  readonly input: KernelTensor;
  readonly strideWidth: number;
  readonly strideHeight: number;
  readonly filterWidth: number;
  readonly filterHeight: number;
  readonly activation: number;
  readonly nchw: boolean;
}

type Explicit = [[0, 0], [number, number], [number, number], [0, 0]];
type Slide = (
  image: tf.Tensor4D,
  window: [number, number],
  strides: [number, number],
  pad: "valid" | Explicit,
) => tf.Tensor4D;

function pool(make: typeof floatKernel, slide: Slide): TfjsKernel {
  return make({
    prepare(args: Pool) {
      const { input, nchw, activation, paddingTop, paddingBottom, paddingLeft, paddingRight } = args;
      const window: [number, number] = [args.filterHeight, args.filterWidth];
      const strides: [number, number] = [args.strideHeight, args.strideWidth];
      const explicit: Explicit = [
        [0, 0],
        [paddingTop, paddingBottom],
        [paddingLeft, paddingRight],
        [0, 0],
      ];
      const pad = paddingTop + paddingBottom + paddingLeft + paddingRight === 0 ? "valid" : explicit;
      return (read) => fromNhwc(activate(slide(toNhwc(read(input), nchw), window, strides, pad), activation), nchw);
    },
  });
}

export const averagePool2d = pool(realKernel, (image, ...sliding) => tf.avgPool(image, ...sliding));
export const maxPool2d = pool(realKernel, (image, ...sliding) => tf.maxPool(image, ...sliding));
/** √ of the mean of the squares under the window. */
export const l2Pool2d = pool(floatKernel, (image, ...sliding) => tf.sqrt(tf.avgPool(tf.square(image), ...sliding)));
