// Generated from the files in ops/ by `npm run generate`; do not edit.
import type { Operation } from "./define.ts";
import { abs } from "./ops/abs.ts";
import { add } from "./ops/add.ts";
import { argmax } from "./ops/argmax.ts";
import { argmin } from "./ops/argmin.ts";
import { averagePool2d } from "./ops/average-pool-2d.ts";
import { axisAlignedBboxTransform } from "./ops/axis-aligned-bbox-transform.ts";
import { batchMatmul } from "./ops/batch-matmul.ts";
import { batchToSpaceNd } from "./ops/batch-to-space-nd.ts";
import { bidirectionalSequenceLstm } from "./ops/bidirectional-sequence-lstm.ts";
import { bidirectionalSequenceRnn } from "./ops/bidirectional-sequence-rnn.ts";
import { boxWithNmsLimit } from "./ops/box-with-nms-limit.ts";
import { cast } from "./ops/cast.ts";
import { channelShuffle } from "./ops/channel-shuffle.ts";
import { concatenation } from "./ops/concatenation.ts";
import { conv2d } from "./ops/conv-2d.ts";
import { depthToSpace } from "./ops/depth-to-space.ts";
import { depthwiseConv2d } from "./ops/depthwise-conv-2d.ts";
import { dequantize } from "./ops/dequantize.ts";
import { detectionPostprocessing } from "./ops/detection-postprocessing.ts";
import { div } from "./ops/div.ts";
import { elu } from "./ops/elu.ts";
import { embeddingLookup } from "./ops/embedding-lookup.ts";
import { equal } from "./ops/equal.ts";
import { exp } from "./ops/exp.ts";
import { expandDims } from "./ops/expand-dims.ts";
import { fill } from "./ops/fill.ts";
import { floor } from "./ops/floor.ts";
import { fullyConnected } from "./ops/fully-connected.ts";
import { gather } from "./ops/gather.ts";
import { generateProposals } from "./ops/generate-proposals.ts";
import { greater } from "./ops/greater.ts";
import { greaterEqual } from "./ops/greater-equal.ts";
import { groupedConv2d } from "./ops/grouped-conv-2d.ts";
import { hardSwish } from "./ops/hard-swish.ts";
import { hashtableLookup } from "./ops/hashtable-lookup.ts";
import { heatmapMaxKeypoint } from "./ops/heatmap-max-keypoint.ts";
import { if_ } from "./ops/if.ts";
import { instanceNormalization } from "./ops/instance-normalization.ts";
import { l2Normalization } from "./ops/l2-normalization.ts";
import { l2Pool2d } from "./ops/l2-pool-2d.ts";
import { less } from "./ops/less.ts";
import { lessEqual } from "./ops/less-equal.ts";
import { localResponseNormalization } from "./ops/local-response-normalization.ts";
import { log } from "./ops/log.ts";
import { logSoftmax } from "./ops/log-softmax.ts";
import { logicalAnd } from "./ops/logical-and.ts";
import { logicalNot } from "./ops/logical-not.ts";
import { logicalOr } from "./ops/logical-or.ts";
import { logistic } from "./ops/logistic.ts";
import { lshProjection } from "./ops/lsh-projection.ts";
import { lstm } from "./ops/lstm.ts";
import { maxPool2d } from "./ops/max-pool-2d.ts";
import { maximum } from "./ops/maximum.ts";
import { mean } from "./ops/mean.ts";
import { minimum } from "./ops/minimum.ts";
import { mirrorPad } from "./ops/mirror-pad.ts";
import { mul } from "./ops/mul.ts";
import { neg } from "./ops/neg.ts";
import { notEqual } from "./ops/not-equal.ts";
import { pack } from "./ops/pack.ts";
import { pad } from "./ops/pad.ts";
import { padV2 } from "./ops/pad-v2.ts";
import { pow } from "./ops/pow.ts";
import { prelu } from "./ops/prelu.ts";
import { quantize } from "./ops/quantize.ts";
import { quantized16bitLstm } from "./ops/quantized-16bit-lstm.ts";
import { quantizedLstm } from "./ops/quantized-lstm.ts";
import { randomMultinomial } from "./ops/random-multinomial.ts";
import { rank } from "./ops/rank.ts";
import { reduceAll } from "./ops/reduce-all.ts";
import { reduceAny } from "./ops/reduce-any.ts";
import { reduceMax } from "./ops/reduce-max.ts";
import { reduceMin } from "./ops/reduce-min.ts";
import { reduceProd } from "./ops/reduce-prod.ts";
import { reduceSum } from "./ops/reduce-sum.ts";
import { relu } from "./ops/relu.ts";
import { relu1 } from "./ops/relu1.ts";
import { relu6 } from "./ops/relu6.ts";
import { reshape } from "./ops/reshape.ts";
import { resizeBilinear } from "./ops/resize-bilinear.ts";
import { resizeNearestNeighbor } from "./ops/resize-nearest-neighbor.ts";
import { reverse } from "./ops/reverse.ts";
import { rnn } from "./ops/rnn.ts";
import { roiAlign } from "./ops/roi-align.ts";
import { roiPooling } from "./ops/roi-pooling.ts";
import { rsqrt } from "./ops/rsqrt.ts";
import { select } from "./ops/select.ts";
import { sin } from "./ops/sin.ts";
import { slice } from "./ops/slice.ts";
import { softmax } from "./ops/softmax.ts";
import { spaceToBatchNd } from "./ops/space-to-batch-nd.ts";
import { spaceToDepth } from "./ops/space-to-depth.ts";
import { split } from "./ops/split.ts";
import { sqrt } from "./ops/sqrt.ts";
import { squeeze } from "./ops/squeeze.ts";
import { stridedSlice } from "./ops/strided-slice.ts";
import { sub } from "./ops/sub.ts";
import { svdf } from "./ops/svdf.ts";
import { tanh } from "./ops/tanh.ts";
import { tile } from "./ops/tile.ts";
import { topkV2 } from "./ops/topk-v2.ts";
import { transpose } from "./ops/transpose.ts";
import { transposeConv2d } from "./ops/transpose-conv-2d.ts";
import { unidirectionalSequenceLstm } from "./ops/unidirectional-sequence-lstm.ts";
import { unidirectionalSequenceRnn } from "./ops/unidirectional-sequence-rnn.ts";
import { while_ } from "./ops/while.ts";

/** Every operation, in the order of the names. */
export const operations: readonly Operation[] = [
  abs,
  add,
  argmax,
  argmin,
  averagePool2d,
  axisAlignedBboxTransform,
  batchMatmul,
  batchToSpaceNd,
  bidirectionalSequenceLstm,
  bidirectionalSequenceRnn,
  boxWithNmsLimit,
  cast,
  channelShuffle,
  concatenation,
  conv2d,
  depthToSpace,
  depthwiseConv2d,
  dequantize,
  detectionPostprocessing,
  div,
  elu,
  embeddingLookup,
  equal,
  exp,
  expandDims,
  fill,
  floor,
  fullyConnected,
  gather,
  generateProposals,
  greater,
  greaterEqual,
  groupedConv2d,
  hardSwish,
  hashtableLookup,
  heatmapMaxKeypoint,
  if_,
  instanceNormalization,
  l2Normalization,
  l2Pool2d,
  less,
  lessEqual,
  localResponseNormalization,
  log,
  logSoftmax,
  logicalAnd,
  logicalNot,
  logicalOr,
  logistic,
  lshProjection,
  lstm,
  maxPool2d,
  maximum,
  mean,
  minimum,
  mirrorPad,
  mul,
  neg,
  notEqual,
  pack,
  pad,
  padV2,
  pow,
  prelu,
  quantize,
  quantized16bitLstm,
  quantizedLstm,
  randomMultinomial,
  rank,
  reduceAll,
  reduceAny,
  reduceMax,
  reduceMin,
  reduceProd,
  reduceSum,
  relu,
  relu1,
  relu6,
  reshape,
  resizeBilinear,
  resizeNearestNeighbor,
  reverse,
  rnn,
  roiAlign,
  roiPooling,
  rsqrt,
  select,
  sin,
  slice,
  softmax,
  spaceToBatchNd,
  spaceToDepth,
  split,
  sqrt,
  squeeze,
  stridedSlice,
  sub,
  svdf,
  tanh,
  tile,
  topkV2,
  transpose,
  transposeConv2d,
  unidirectionalSequenceLstm,
  unidirectionalSequenceRnn,
  while_,
];
