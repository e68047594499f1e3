// Generated from the files in ops/ by `npm run generate`; do not edit.
import { averagePool2d } from "./ops/average-pool-2d.ts";
import { batchMatmul } from "./ops/batch-matmul.ts";
import { bidirectionalSequenceRnn } from "./ops/bidirectional-sequence-rnn.ts";
import { conv2d } from "./ops/conv-2d.ts";
import { conv3d } from "./ops/conv-3d.ts";
import { conv3dTranspose } from "./ops/conv-3d-transpose.ts";
import { depthwiseConv2d } from "./ops/depthwise-conv-2d.ts";
import { detectionPostprocess } from "./ops/detection-postprocess.ts";
import { fullyConnected } from "./ops/fully-connected.ts";
import { lstm } from "./ops/lstm.ts";
import { maxPool2d } from "./ops/max-pool-2d.ts";
import { resizeBilinear } from "./ops/resize-bilinear.ts";
import { resizeNearestNeighbor } from "./ops/resize-nearest-neighbor.ts";
import { rnn } from "./ops/rnn.ts";
import { svdf } from "./ops/svdf.ts";
import { transpose } from "./ops/transpose.ts";
import { transposeConv2d } from "./ops/transpose-conv-2d.ts";
import { unidirectionalSequenceLstm } from "./ops/unidirectional-sequence-lstm.ts";
import { unidirectionalSequenceRnn } from "./ops/unidirectional-sequence-rnn.ts";

/** Every operation, in the order of the names. */
export const operations = [
  averagePool2d,
  batchMatmul,
  bidirectionalSequenceRnn,
  conv2d,
  conv3d,
  conv3dTranspose,
  depthwiseConv2d,
  detectionPostprocess,
  fullyConnected,
  lstm,
  maxPool2d,
  resizeBilinear,
  resizeNearestNeighbor,
  rnn,
  svdf,
  transpose,
  transposeConv2d,
  unidirectionalSequenceLstm,
  unidirectionalSequenceRnn,
] as const;
