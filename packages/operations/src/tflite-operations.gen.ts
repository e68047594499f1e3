// Generated from the files in ops/ by `npm run generate`; do not edit.
import { addN } from "./ops/add-n.tflite.ts";
import { argExtremes } from "./ops/arg-extremes.tflite.ts";
import { arithmetic } from "./ops/arithmetic.tflite.ts";
import { audioSpectrogram } from "./ops/audio-spectrogram.tflite.ts";
import { batchMatmul } from "./ops/batch-matmul.tflite.ts";
import { batchToSpaceNd } from "./ops/batch-to-space-nd.tflite.ts";
import { bidirectionalSequenceLstm } from "./ops/bidirectional-sequence-lstm.tflite.ts";
import { bidirectionalSequenceRnn } from "./ops/bidirectional-sequence-rnn.tflite.ts";
import { bitcast } from "./ops/bitcast.tflite.ts";
import { broadcastArgs } from "./ops/broadcast-args.tflite.ts";
import { broadcastTo } from "./ops/broadcast-to.tflite.ts";
import { bucketize } from "./ops/bucketize.tflite.ts";
import { cast } from "./ops/cast.tflite.ts";
import { comparisons } from "./ops/comparisons.tflite.ts";
import { complexParts } from "./ops/complex-parts.tflite.ts";
import { concatenation } from "./ops/concatenation.tflite.ts";
import { conv2d } from "./ops/conv-2d.tflite.ts";
import { conv3d } from "./ops/conv-3d.tflite.ts";
import { conv3dTranspose } from "./ops/conv-3d-transpose.tflite.ts";
import { cumsum } from "./ops/cumsum.tflite.ts";
import { depthwiseConv2d } from "./ops/depthwise-conv-2d.tflite.ts";
import { dequantize } from "./ops/dequantize.tflite.ts";
import { detectionPostprocess } from "./ops/detection-postprocess.tflite.ts";
import { dilate } from "./ops/dilate.tflite.ts";
import { dynamicUpdateSlice } from "./ops/dynamic-update-slice.tflite.ts";
import { embeddingLookup } from "./ops/embedding-lookup.tflite.ts";
import { embeddingLookupSparse } from "./ops/embedding-lookup-sparse.tflite.ts";
import { fakeQuant } from "./ops/fake-quant.tflite.ts";
import { fill } from "./ops/fill.tflite.ts";
import { fullyConnected } from "./ops/fully-connected.tflite.ts";
import { functions } from "./ops/functions.tflite.ts";
import { gather } from "./ops/gather.tflite.ts";
import { gatherNd } from "./ops/gather-nd.tflite.ts";
import { gelu } from "./ops/gelu.tflite.ts";
import { hashtableFind } from "./ops/hashtable-find.tflite.ts";
import { hashtableImport } from "./ops/hashtable-import.tflite.ts";
import { hashtableSize } from "./ops/hashtable-size.tflite.ts";
import { logSoftmax } from "./ops/log-softmax.tflite.ts";
import { lstm } from "./ops/lstm.tflite.ts";
import { matrixDiag } from "./ops/matrix-diag.tflite.ts";
import { matrixSetDiag } from "./ops/matrix-set-diag.tflite.ts";
import { mean } from "./ops/mean.tflite.ts";
import { mfcc } from "./ops/mfcc.tflite.ts";
import { mirrorPad } from "./ops/mirror-pad.tflite.ts";
import { multinomial } from "./ops/multinomial.tflite.ts";
import { nonMaxSuppressionV4 } from "./ops/non-max-suppression-v4.tflite.ts";
import { nonMaxSuppressionV5 } from "./ops/non-max-suppression-v5.tflite.ts";
import { numericVerify } from "./ops/numeric-verify.tflite.ts";
import { oneHot } from "./ops/one-hot.tflite.ts";
import { pack } from "./ops/pack.tflite.ts";
import { pad } from "./ops/pad.tflite.ts";
import { padV2 } from "./ops/pad-v2.tflite.ts";
import { pairs } from "./ops/pairs.tflite.ts";
import { prelu } from "./ops/prelu.tflite.ts";
import { quantize } from "./ops/quantize.tflite.ts";
import { randomNumbers } from "./ops/random-numbers.tflite.ts";
import { range } from "./ops/range.tflite.ts";
import { rank } from "./ops/rank.tflite.ts";
import { rectifiers } from "./ops/rectifiers.tflite.ts";
import { reduceWindow } from "./ops/reduce-window.tflite.ts";
import { reductions } from "./ops/reductions.tflite.ts";
import { resizeBilinear } from "./ops/resize-bilinear.tflite.ts";
import { resizeNearestNeighbor } from "./ops/resize-nearest-neighbor.tflite.ts";
import { reverseSequence } from "./ops/reverse-sequence.tflite.ts";
import { reverseV2 } from "./ops/reverse-v2.tflite.ts";
import { rfft2d } from "./ops/rfft2d.tflite.ts";
import { rnn } from "./ops/rnn.tflite.ts";
import { scatterNd } from "./ops/scatter-nd.tflite.ts";
import { segments } from "./ops/segments.tflite.ts";
import { select } from "./ops/select.tflite.ts";
import { selectV2 } from "./ops/select-v2.tflite.ts";
import { shape } from "./ops/shape.tflite.ts";
import { skipGram } from "./ops/skip-gram.tflite.ts";
import { softmax } from "./ops/softmax.tflite.ts";
import { spaceToBatchNd } from "./ops/space-to-batch-nd.tflite.ts";
import { sparseToDense } from "./ops/sparse-to-dense.tflite.ts";
import { splitV } from "./ops/split-v.tflite.ts";
import { stablehloGather } from "./ops/stablehlo-gather.tflite.ts";
import { stablehloPad } from "./ops/stablehlo-pad.tflite.ts";
import { stablehloPairs } from "./ops/stablehlo-pairs.tflite.ts";
import { stablehloReduceWindow } from "./ops/stablehlo-reduce-window.tflite.ts";
import { stablehloRngBitGenerator } from "./ops/stablehlo-rng-bit-generator.tflite.ts";
import { stablehloScatter } from "./ops/stablehlo-scatter.tflite.ts";
import { stridedSlice } from "./ops/strided-slice.tflite.ts";
import { stringEqual } from "./ops/string-equal.tflite.ts";
import { stringGather } from "./ops/string-gather.tflite.ts";
import { stringIndexes } from "./ops/string-indexes.tflite.ts";
import { svdf } from "./ops/svdf.tflite.ts";
import { topkV2 } from "./ops/topk-v2.tflite.ts";
import { transposeConv2d } from "./ops/transpose-conv-2d.tflite.ts";
import { unidirectionalSequenceLstm } from "./ops/unidirectional-sequence-lstm.tflite.ts";
import { unidirectionalSequenceRnn } from "./ops/unidirectional-sequence-rnn.tflite.ts";
import { unique } from "./ops/unique.tflite.ts";
import { unpack } from "./ops/unpack.tflite.ts";
import { where } from "./ops/where.tflite.ts";
import { widenings } from "./ops/widenings.tflite.ts";
import { zerosLike } from "./ops/zeros-like.tflite.ts";

/** Every operation of nnhal.tflite, in the order of the files. */
export const tfliteOperations = [
  addN,
  ...argExtremes,
  ...arithmetic,
  audioSpectrogram,
  batchMatmul,
  batchToSpaceNd,
  bidirectionalSequenceLstm,
  bidirectionalSequenceRnn,
  bitcast,
  broadcastArgs,
  broadcastTo,
  bucketize,
  cast,
  ...comparisons,
  ...complexParts,
  concatenation,
  conv2d,
  conv3d,
  conv3dTranspose,
  cumsum,
  depthwiseConv2d,
  dequantize,
  detectionPostprocess,
  dilate,
  dynamicUpdateSlice,
  embeddingLookup,
  embeddingLookupSparse,
  fakeQuant,
  fill,
  fullyConnected,
  ...functions,
  gather,
  gatherNd,
  gelu,
  hashtableFind,
  hashtableImport,
  hashtableSize,
  logSoftmax,
  lstm,
  matrixDiag,
  matrixSetDiag,
  mean,
  mfcc,
  mirrorPad,
  multinomial,
  nonMaxSuppressionV4,
  nonMaxSuppressionV5,
  numericVerify,
  oneHot,
  pack,
  pad,
  padV2,
  ...pairs,
  prelu,
  quantize,
  ...randomNumbers,
  range,
  rank,
  ...rectifiers,
  reduceWindow,
  ...reductions,
  resizeBilinear,
  resizeNearestNeighbor,
  reverseSequence,
  reverseV2,
  rfft2d,
  rnn,
  scatterNd,
  ...segments,
  select,
  selectV2,
  shape,
  skipGram,
  softmax,
  spaceToBatchNd,
  sparseToDense,
  splitV,
  stablehloGather,
  stablehloPad,
  ...stablehloPairs,
  stablehloReduceWindow,
  stablehloRngBitGenerator,
  stablehloScatter,
  stridedSlice,
  stringEqual,
  stringGather,
  stringIndexes,
  svdf,
  topkV2,
  transposeConv2d,
  unidirectionalSequenceLstm,
  unidirectionalSequenceRnn,
  unique,
  unpack,
  where,
  ...widenings,
  zerosLike,
] as const;
