/**
 * INSTANCE_NORMALIZATION: each channel of each image on its own. Facts: HAL 1.2 types.hal, INSTANCE_NORMALIZATION.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { bool, scalar, tensor } from "../params.ts";
import { pacer } from "./_chunks.ts";
import { imageLayout } from "./_image.ts";
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
  *reference({ input, gamma, beta, epsilon, nchw }, { output }) {
    const image = imageLayout(input.dimensions, nchw);
    const values = yield* widen(input);
    const pixels = image.height * image.width;
    if (values.length === 0) return;
    const isTime = pacer();
    for (let batch = 0; batch < image.batches; batch++) {
      for (let channel = 0; channel < image.channels; channel++) {
        const start = batch * image.batchStep + channel * image.channelStep;
        const end = start + pixels * image.pixelStep;
        let sum = 0;
        for (let at = start; at < end; at += image.pixelStep) {
          sum += values[at];
          if (isTime(1)) yield;
        }
        const mean = sum / pixels;
        let squares = 0;
        for (let at = start; at < end; at += image.pixelStep) {
          squares += (values[at] - mean) ** 2;
          if (isTime(1)) yield;
        }
        // The variance of all pixels, not an estimate from a sample: divided by their number.
        const factor = gamma / Math.sqrt(squares / pixels + epsilon);
        for (let at = start; at < end; at += image.pixelStep) {
          output.data[at] = (values[at] - mean) * factor + beta;
          if (isTime(1)) yield;
        }
      }
    }
  },
});
