// Generated from the files in ops/ by `npm run generate`; do not edit.
import { abs } from "./ops/abs.ts";
import { add } from "./ops/add.ts";
import { addN } from "./ops/add-n.ts";
import { argmax } from "./ops/argmax.ts";
import { argmin } from "./ops/argmin.ts";
import { atan2 } from "./ops/atan2.ts";
import { audioSpectrogram } from "./ops/audio-spectrogram.ts";
import { batchMatmul } from "./ops/batch-matmul.ts";
import { batchToSpaceNd } from "./ops/batch-to-space-nd.ts";
import { bidirectionalSequenceLstm } from "./ops/bidirectional-sequence-lstm.ts";
import { bidirectionalSequenceRnn } from "./ops/bidirectional-sequence-rnn.ts";
import { bitcast } from "./ops/bitcast.ts";
import { bitwiseXor } from "./ops/bitwise-xor.ts";
import { broadcastArgs } from "./ops/broadcast-args.ts";
import { broadcastTo } from "./ops/broadcast-to.ts";
import { bucketize } from "./ops/bucketize.ts";
import { cast } from "./ops/cast.ts";
import { ceil } from "./ops/ceil.ts";
import { complexAbs } from "./ops/complex-abs.ts";
import { concatenation } from "./ops/concatenation.ts";
import { conv2d } from "./ops/conv-2d.ts";
import { conv3d } from "./ops/conv-3d.ts";
import { conv3dTranspose } from "./ops/conv-3d-transpose.ts";
import { cos } from "./ops/cos.ts";
import { cumsum } from "./ops/cumsum.ts";
import { depthwiseConv2d } from "./ops/depthwise-conv-2d.ts";
import { dequantize } from "./ops/dequantize.ts";
import { detectionPostprocess } from "./ops/detection-postprocess.ts";
import { dilate } from "./ops/dilate.ts";
import { div } from "./ops/div.ts";
import { dynamicUpdateSlice } from "./ops/dynamic-update-slice.ts";
import { elu } from "./ops/elu.ts";
import { embeddingLookup } from "./ops/embedding-lookup.ts";
import { embeddingLookupSparse } from "./ops/embedding-lookup-sparse.ts";
import { exp } from "./ops/exp.ts";
import { fakeQuant } from "./ops/fake-quant.ts";
import { fill } from "./ops/fill.ts";
import { floor } from "./ops/floor.ts";
import { floorDiv } from "./ops/floor-div.ts";
import { floorMod } from "./ops/floor-mod.ts";
import { fullyConnected } from "./ops/fully-connected.ts";
import { gather } from "./ops/gather.ts";
import { gatherNd } from "./ops/gather-nd.ts";
import { gelu } from "./ops/gelu.ts";
import { hashtableFind } from "./ops/hashtable-find.ts";
import { hashtableImport } from "./ops/hashtable-import.ts";
import { hashtableSize } from "./ops/hashtable-size.ts";
import { imag } from "./ops/imag.ts";
import { leakyRelu } from "./ops/leaky-relu.ts";
import { log } from "./ops/log.ts";
import { logSoftmax } from "./ops/log-softmax.ts";
import { logistic } from "./ops/logistic.ts";
import { lstm } from "./ops/lstm.ts";
import { matrixDiag } from "./ops/matrix-diag.ts";
import { matrixSetDiag } from "./ops/matrix-set-diag.ts";
import { maximum } from "./ops/maximum.ts";
import { mean } from "./ops/mean.ts";
import { mfcc } from "./ops/mfcc.ts";
import { minimum } from "./ops/minimum.ts";
import { mirrorPad } from "./ops/mirror-pad.ts";
import { mul } from "./ops/mul.ts";
import { multinomial } from "./ops/multinomial.ts";
import { neg } from "./ops/neg.ts";
import { nonMaxSuppressionV4 } from "./ops/non-max-suppression-v4.ts";
import { nonMaxSuppressionV5 } from "./ops/non-max-suppression-v5.ts";
import { numericVerify } from "./ops/numeric-verify.ts";
import { oneHot } from "./ops/one-hot.ts";
import { pack } from "./ops/pack.ts";
import { pad } from "./ops/pad.ts";
import { padV2 } from "./ops/pad-v2.ts";
import { pow } from "./ops/pow.ts";
import { prelu } from "./ops/prelu.ts";
import { quantize } from "./ops/quantize.ts";
import { randomStandardNormal } from "./ops/random-standard-normal.ts";
import { randomUniform } from "./ops/random-uniform.ts";
import { range } from "./ops/range.ts";
import { rank } from "./ops/rank.ts";
import { real } from "./ops/real.ts";
import { reduceAll } from "./ops/reduce-all.ts";
import { reduceAny } from "./ops/reduce-any.ts";
import { reduceMax } from "./ops/reduce-max.ts";
import { reduceMin } from "./ops/reduce-min.ts";
import { reduceProd } from "./ops/reduce-prod.ts";
import { reduceSum } from "./ops/reduce-sum.ts";
import { reduceWindow } from "./ops/reduce-window.ts";
import { relu } from "./ops/relu.ts";
import { relu0To1 } from "./ops/relu-0-to-1.ts";
import { relu1 } from "./ops/relu1.ts";
import { relu6 } from "./ops/relu6.ts";
import { resizeBilinear } from "./ops/resize-bilinear.ts";
import { resizeNearestNeighbor } from "./ops/resize-nearest-neighbor.ts";
import { reverseSequence } from "./ops/reverse-sequence.ts";
import { reverseV2 } from "./ops/reverse-v2.ts";
import { rfft2d } from "./ops/rfft2d.ts";
import { rightShift } from "./ops/right-shift.ts";
import { rnn } from "./ops/rnn.ts";
import { round } from "./ops/round.ts";
import { rsqrt } from "./ops/rsqrt.ts";
import { scatterNd } from "./ops/scatter-nd.ts";
import { segmentSum } from "./ops/segment-sum.ts";
import { select } from "./ops/select.ts";
import { selectV2 } from "./ops/select-v2.ts";
import { shape } from "./ops/shape.ts";
import { sign } from "./ops/sign.ts";
import { skipGram } from "./ops/skip-gram.ts";
import { softmax } from "./ops/softmax.ts";
import { spaceToBatchNd } from "./ops/space-to-batch-nd.ts";
import { sparseToDense } from "./ops/sparse-to-dense.ts";
import { splitV } from "./ops/split-v.ts";
import { sqrt } from "./ops/sqrt.ts";
import { square } from "./ops/square.ts";
import { squaredDifference } from "./ops/squared-difference.ts";
import { stablehloAdd } from "./ops/stablehlo-add.ts";
import { stablehloAnd } from "./ops/stablehlo-and.ts";
import { stablehloGather } from "./ops/stablehlo-gather.ts";
import { stablehloMaximum } from "./ops/stablehlo-maximum.ts";
import { stablehloMinimum } from "./ops/stablehlo-minimum.ts";
import { stablehloMultiply } from "./ops/stablehlo-multiply.ts";
import { stablehloPad } from "./ops/stablehlo-pad.ts";
import { stablehloReduceWindow } from "./ops/stablehlo-reduce-window.ts";
import { stablehloRngBitGenerator } from "./ops/stablehlo-rng-bit-generator.ts";
import { stablehloScatter } from "./ops/stablehlo-scatter.ts";
import { stablehloShiftLeft } from "./ops/stablehlo-shift-left.ts";
import { stridedSlice } from "./ops/strided-slice.ts";
import { stringEqual } from "./ops/string-equal.ts";
import { stringGather } from "./ops/string-gather.ts";
import { stringIndexes } from "./ops/string-indexes.ts";
import { sub } from "./ops/sub.ts";
import { svdf } from "./ops/svdf.ts";
import { tanh } from "./ops/tanh.ts";
import { topkV2 } from "./ops/topk-v2.ts";
import { transposeConv2d } from "./ops/transpose-conv-2d.ts";
import { unidirectionalSequenceLstm } from "./ops/unidirectional-sequence-lstm.ts";
import { unidirectionalSequenceRnn } from "./ops/unidirectional-sequence-rnn.ts";
import { unique } from "./ops/unique.ts";
import { unpack } from "./ops/unpack.ts";
import { unsortedSegmentMax } from "./ops/unsorted-segment-max.ts";
import { unsortedSegmentMin } from "./ops/unsorted-segment-min.ts";
import { unsortedSegmentProd } from "./ops/unsorted-segment-prod.ts";
import { unsortedSegmentSum } from "./ops/unsorted-segment-sum.ts";
import { where } from "./ops/where.ts";
import { zerosLike } from "./ops/zeros-like.ts";

/** Every operation, in the order of the names. */
export const operations = [
  abs,
  add,
  addN,
  argmax,
  argmin,
  atan2,
  audioSpectrogram,
  batchMatmul,
  batchToSpaceNd,
  bidirectionalSequenceLstm,
  bidirectionalSequenceRnn,
  bitcast,
  bitwiseXor,
  broadcastArgs,
  broadcastTo,
  bucketize,
  cast,
  ceil,
  complexAbs,
  concatenation,
  conv2d,
  conv3d,
  conv3dTranspose,
  cos,
  cumsum,
  depthwiseConv2d,
  dequantize,
  detectionPostprocess,
  dilate,
  div,
  dynamicUpdateSlice,
  elu,
  embeddingLookup,
  embeddingLookupSparse,
  exp,
  fakeQuant,
  fill,
  floor,
  floorDiv,
  floorMod,
  fullyConnected,
  gather,
  gatherNd,
  gelu,
  hashtableFind,
  hashtableImport,
  hashtableSize,
  imag,
  leakyRelu,
  log,
  logSoftmax,
  logistic,
  lstm,
  matrixDiag,
  matrixSetDiag,
  maximum,
  mean,
  mfcc,
  minimum,
  mirrorPad,
  mul,
  multinomial,
  neg,
  nonMaxSuppressionV4,
  nonMaxSuppressionV5,
  numericVerify,
  oneHot,
  pack,
  pad,
  padV2,
  pow,
  prelu,
  quantize,
  randomStandardNormal,
  randomUniform,
  range,
  rank,
  real,
  reduceAll,
  reduceAny,
  reduceMax,
  reduceMin,
  reduceProd,
  reduceSum,
  reduceWindow,
  relu,
  relu0To1,
  relu1,
  relu6,
  resizeBilinear,
  resizeNearestNeighbor,
  reverseSequence,
  reverseV2,
  rfft2d,
  rightShift,
  rnn,
  round,
  rsqrt,
  scatterNd,
  segmentSum,
  select,
  selectV2,
  shape,
  sign,
  skipGram,
  softmax,
  spaceToBatchNd,
  sparseToDense,
  splitV,
  sqrt,
  square,
  squaredDifference,
  stablehloAdd,
  stablehloAnd,
  stablehloGather,
  stablehloMaximum,
  stablehloMinimum,
  stablehloMultiply,
  stablehloPad,
  stablehloReduceWindow,
  stablehloRngBitGenerator,
  stablehloScatter,
  stablehloShiftLeft,
  stridedSlice,
  stringEqual,
  stringGather,
  stringIndexes,
  sub,
  svdf,
  tanh,
  topkV2,
  transposeConv2d,
  unidirectionalSequenceLstm,
  unidirectionalSequenceRnn,
  unique,
  unpack,
  unsortedSegmentMax,
  unsortedSegmentMin,
  unsortedSegmentProd,
  unsortedSegmentSum,
  where,
  zerosLike,
] as const;
