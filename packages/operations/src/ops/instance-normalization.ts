/**
 * INSTANCE_NORMALIZATION: each channel of each image on its own. Facts: HAL 1.2 types.hal, INSTANCE_NORMALIZATION.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { bool, scalar, tensor } from "../params.ts";
import type { TensorData } from "../tensor.ts";
import { type ImageLayout, imageLayout } from "./_image.ts";
import { widen } from "./_widen.ts";

export const instanceNormalization = defineOperation({
  name: "INSTANCE_NORMALIZATION",
  code: OperationType.INSTANCE_NORMALIZATION,
  summary:
    "Scales each channel of each image to mean beta and deviation gamma: (x − mean) · gamma / √(variance + epsilon) + beta.",
  params: [tensor("input"), scalar("gamma"), scalar("beta"), scalar("epsilon"), bool("nchw")],
  outputs: [tensor("output")],
  types: [
    ["1.2", "TENSOR_FLOAT32", "FLOAT32", "FLOAT32", "FLOAT32", "TENSOR_FLOAT32"],
    ["1.2", "TENSOR_FLOAT16", "FLOAT16", "FLOAT16", "FLOAT16", "TENSOR_FLOAT16"],
  ],
  ranks: { input: 4 },
  work: "functionElement",
  infer: ({ input }) => ({ output: { dimensions: input.dimensions } }),
  reference({ input, gamma, beta, epsilon, nchw }, { output }) {
    const image = imageLayout(input.dimensions, nchw);
    const values = widen(input);
    const compute = (first: number, end: number) => {
      for (let plane = first; plane < end; plane++) {
        normalisePlane(values.data, image, plane, gamma, beta, epsilon, output.data);
      }
    };
    const units = image.batches * image.channels;
    return [...values.phases, { units, cost: 12 * image.height * image.width, apart: true, compute }];
  },
});

/** y = gamma · (x − mean) / √(variance + epsilon) + beta, for the pixels of one channel of one batch. */
function normalisePlane(
  x: Float64Array,
  { channels, height, width, batchStep, channelStep, pixelStep }: ImageLayout,
  plane: number,
  gamma: number,
  beta: number,
  epsilon: number,
  y: TensorData,
): void {
  const pixels = height * width;
  const start = Math.floor(plane / channels) * batchStep + (plane % channels) * channelStep;
  const end = start + pixels * pixelStep;
  let sum = 0;
  for (let at = start; at < end; at += pixelStep) sum += x[at];
  const mean = sum / pixels;
  let squares = 0;
  for (let at = start; at < end; at += pixelStep) squares += (x[at] - mean) ** 2;
  // The variance of all pixels, not an estimate from a sample: divided by their number.
  const factor = gamma / Math.sqrt(squares / pixels + epsilon);
  for (let at = start; at < end; at += pixelStep) y[at] = (x[at] - mean) * factor + beta;
}
