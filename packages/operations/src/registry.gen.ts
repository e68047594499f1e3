// Generated from the files in ops/ by `npm run generate`; do not edit.
import type { Operation } from "./define.ts";
import { add } from "./ops/add.ts";
import { argmax } from "./ops/argmax.ts";
import { argmin } from "./ops/argmin.ts";
import { averagePool2d } from "./ops/average-pool-2d.ts";
import { batchToSpaceNd } from "./ops/batch-to-space-nd.ts";
import { bidirectionalSequenceLstm } from "./ops/bidirectional-sequence-lstm.ts";
import { bidirectionalSequenceRnn } from "./ops/bidirectional-sequence-rnn.ts";
import { channelShuffle } from "./ops/channel-shuffle.ts";
import { concatenation } from "./ops/concatenation.ts";
import { conv2d } from "./ops/conv-2d.ts";
import { depthToSpace } from "./ops/depth-to-space.ts";
import { depthwiseConv2d } from "./ops/depthwise-conv-2d.ts";
import { div } from "./ops/div.ts";
import { embeddingLookup } from "./ops/embedding-lookup.ts";
import { expandDims } from "./ops/expand-dims.ts";
import { fill } from "./ops/fill.ts";
import { fullyConnected } from "./ops/fully-connected.ts";
import { gather } from "./ops/gather.ts";
import { groupedConv2d } from "./ops/grouped-conv-2d.ts";
import { hashtableLookup } from "./ops/hashtable-lookup.ts";
import { if_ } from "./ops/if.ts";
import { l2Pool2d } from "./ops/l2-pool-2d.ts";
import { lshProjection } from "./ops/lsh-projection.ts";
import { lstm } from "./ops/lstm.ts";
import { maxPool2d } from "./ops/max-pool-2d.ts";
import { mean } from "./ops/mean.ts";
import { mul } from "./ops/mul.ts";
import { pad } from "./ops/pad.ts";
import { padV2 } from "./ops/pad-v2.ts";
import { randomMultinomial } from "./ops/random-multinomial.ts";
import { rank } from "./ops/rank.ts";
import { reduceAll } from "./ops/reduce-all.ts";
import { reduceAny } from "./ops/reduce-any.ts";
import { reduceMax } from "./ops/reduce-max.ts";
import { reduceMin } from "./ops/reduce-min.ts";
import { reduceProd } from "./ops/reduce-prod.ts";
import { reduceSum } from "./ops/reduce-sum.ts";
import { reshape } from "./ops/reshape.ts";
import { rnn } from "./ops/rnn.ts";
import { slice } from "./ops/slice.ts";
import { softmax } from "./ops/softmax.ts";
import { spaceToBatchNd } from "./ops/space-to-batch-nd.ts";
import { spaceToDepth } from "./ops/space-to-depth.ts";
import { split } from "./ops/split.ts";
import { squeeze } from "./ops/squeeze.ts";
import { stridedSlice } from "./ops/strided-slice.ts";
import { sub } from "./ops/sub.ts";
import { svdf } from "./ops/svdf.ts";
import { tile } from "./ops/tile.ts";
import { topkV2 } from "./ops/topk-v2.ts";
import { transpose } from "./ops/transpose.ts";
import { transposeConv2d } from "./ops/transpose-conv-2d.ts";
import { unidirectionalSequenceLstm } from "./ops/unidirectional-sequence-lstm.ts";
import { unidirectionalSequenceRnn } from "./ops/unidirectional-sequence-rnn.ts";
import { while_ } from "./ops/while.ts";

/** Every operation, in the order of the names. */
export const operations = [
  add,
  argmax,
  argmin,
  averagePool2d,
  batchToSpaceNd,
  bidirectionalSequenceLstm,
  bidirectionalSequenceRnn,
  channelShuffle,
  concatenation,
  conv2d,
  depthToSpace,
  depthwiseConv2d,
  div,
  embeddingLookup,
  expandDims,
  fill,
  fullyConnected,
  gather,
  groupedConv2d,
  hashtableLookup,
  if_,
  l2Pool2d,
  lshProjection,
  lstm,
  maxPool2d,
  mean,
  mul,
  pad,
  padV2,
  randomMultinomial,
  rank,
  reduceAll,
  reduceAny,
  reduceMax,
  reduceMin,
  reduceProd,
  reduceSum,
  reshape,
  rnn,
  slice,
  softmax,
  spaceToBatchNd,
  spaceToDepth,
  split,
  squeeze,
  stridedSlice,
  sub,
  svdf,
  tile,
  topkV2,
  transpose,
  transposeConv2d,
  unidirectionalSequenceLstm,
  unidirectionalSequenceRnn,
  while_,
] as const satisfies readonly Operation[];
