/**
 * @nnhal/extension-mediapipe: the custom operators that MediaPipe adds to TensorFlow Lite, and one of LiteRT, as an extension with reference kernels.
 */
import { defineExtension } from "@nnhal/operations/authoring";
import { convolution2dTransposeBias } from "./convolution-2d-transpose-bias.ts";
import { landmarks2TransformMatrix } from "./landmarks-2-transform-matrix.ts";
import { litertMaxUnpooling2d } from "./litert-max-unpooling-2d.ts";
import { maxPoolingWithArgmax2d } from "./max-pooling-with-argmax-2d.ts";
import { maxUnpooling2d } from "./max-unpooling-2d.ts";
import { resampler } from "./resampler.ts";
import { transformLandmarks } from "./transform-landmarks.ts";
import { transformTensorBilinear } from "./transform-tensor-bilinear.ts";

/** The extension `nnhal.mediapipe`: operations with the names of the custom operators. */
export const mediapipe = defineExtension({
  name: "nnhal.mediapipe",
  operations: [
    convolution2dTransposeBias,
    maxPoolingWithArgmax2d,
    maxUnpooling2d,
    transformTensorBilinear,
    transformLandmarks,
    landmarks2TransformMatrix,
    resampler,
    litertMaxUnpooling2d,
  ],
});
