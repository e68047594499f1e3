/** MediaPipe's custom operators, which a package of this project adds. */
import { quote } from "../../error.ts";
import type { Lowering } from "../lowering.ts";
import type { CustomRow } from "../row.ts";

const help =
  'install @nnhal/extension-mediapipe, and give it: --extension @nnhal/extension-mediapipe (nnhal, nnhal-server), extensions: ["@nnhal/extension-mediapipe"] (load, in a worker too; in a browser the module itself), customOperators: [mediapipe] (importTflite)';

const names = [
  "Convolution2DTransposeBias",
  "MaxPoolingWithArgmax2D",
  "MaxUnpooling2D",
  "TransformTensorBilinear",
  "TransformLandmarks",
  "Landmarks2TransformMatrix",
  "Resampler",
  "LiteRtMaxUnpooling2D",
];

export const mediapipeRows: readonly CustomRow[] = names.map((customCode) => ({
  customCode,
  version: 2,
  operations: [],
  note: "Custom. Of @nnhal/extension-mediapipe.",
  lower: (op: Lowering) => op.fail(`the HAL has no counterpart of the custom operator ${quote(customCode)}`, help),
}));
