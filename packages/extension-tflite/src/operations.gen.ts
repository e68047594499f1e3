// Generated from the files in ops/ by `npm run generate`; do not edit.
import { averagePool2d } from "./ops/average-pool-2d.ts";
import { conv2d } from "./ops/conv-2d.ts";
import { depthwiseConv2d } from "./ops/depthwise-conv-2d.ts";
import { fullyConnected } from "./ops/fully-connected.ts";
import { lstm } from "./ops/lstm.ts";
import { maxPool2d } from "./ops/max-pool-2d.ts";
import { resizeBilinear } from "./ops/resize-bilinear.ts";
import { resizeNearestNeighbor } from "./ops/resize-nearest-neighbor.ts";
import { svdf } from "./ops/svdf.ts";
import { transpose } from "./ops/transpose.ts";
import { transposeConv2d } from "./ops/transpose-conv-2d.ts";
import { unidirectionalSequenceLstm } from "./ops/unidirectional-sequence-lstm.ts";

/** Every operation, in the order of the names. */
export const operations = [
  averagePool2d,
  conv2d,
  depthwiseConv2d,
  fullyConnected,
  lstm,
  maxPool2d,
  resizeBilinear,
  resizeNearestNeighbor,
  svdf,
  transpose,
  transposeConv2d,
  unidirectionalSequenceLstm,
] as const;
