// Generated from the files in ops/ by `npm run generate`; do not edit.
import { argmax } from "./ops/argmax.ts";
import { argmin } from "./ops/argmin.ts";
import { batchToSpaceNd } from "./ops/batch-to-space-nd.ts";
import { bitcast } from "./ops/bitcast.ts";
import { broadcastArgs } from "./ops/broadcast-args.ts";
import { broadcastTo } from "./ops/broadcast-to.ts";
import { bucketize } from "./ops/bucketize.ts";
import { cast } from "./ops/cast.ts";
import { concatenation } from "./ops/concatenation.ts";
import { cumsum } from "./ops/cumsum.ts";
import { depthToSpace } from "./ops/depth-to-space.ts";
import { dynamicUpdateSlice } from "./ops/dynamic-update-slice.ts";
import { embeddingLookup } from "./ops/embedding-lookup.ts";
import { embeddingLookupSparse } from "./ops/embedding-lookup-sparse.ts";
import { expandDims } from "./ops/expand-dims.ts";
import { fill } from "./ops/fill.ts";
import { gather } from "./ops/gather.ts";
import { gatherNd } from "./ops/gather-nd.ts";
import { hashtableLookup } from "./ops/hashtable-lookup.ts";
import { matrixDiag } from "./ops/matrix-diag.ts";
import { matrixSetDiag } from "./ops/matrix-set-diag.ts";
import { mirrorPad } from "./ops/mirror-pad.ts";
import { nonMaxSuppressionV4 } from "./ops/non-max-suppression-v4.ts";
import { nonMaxSuppressionV5 } from "./ops/non-max-suppression-v5.ts";
import { oneHot } from "./ops/one-hot.ts";
import { pack } from "./ops/pack.ts";
import { pad } from "./ops/pad.ts";
import { padV2 } from "./ops/pad-v2.ts";
import { range } from "./ops/range.ts";
import { rank } from "./ops/rank.ts";
import { reshape } from "./ops/reshape.ts";
import { reverseSequence } from "./ops/reverse-sequence.ts";
import { reverseV2 } from "./ops/reverse-v2.ts";
import { scatterNd } from "./ops/scatter-nd.ts";
import { segmentSum } from "./ops/segment-sum.ts";
import { select } from "./ops/select.ts";
import { selectV2 } from "./ops/select-v2.ts";
import { shape } from "./ops/shape.ts";
import { slice } from "./ops/slice.ts";
import { spaceToBatchNd } from "./ops/space-to-batch-nd.ts";
import { spaceToDepth } from "./ops/space-to-depth.ts";
import { sparseToDense } from "./ops/sparse-to-dense.ts";
import { split } from "./ops/split.ts";
import { splitV } from "./ops/split-v.ts";
import { squeeze } from "./ops/squeeze.ts";
import { stridedSlice } from "./ops/strided-slice.ts";
import { tile } from "./ops/tile.ts";
import { topkV2 } from "./ops/topk-v2.ts";
import { transpose } from "./ops/transpose.ts";
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
  argmax,
  argmin,
  batchToSpaceNd,
  bitcast,
  broadcastArgs,
  broadcastTo,
  bucketize,
  cast,
  concatenation,
  cumsum,
  depthToSpace,
  dynamicUpdateSlice,
  embeddingLookup,
  embeddingLookupSparse,
  expandDims,
  fill,
  gather,
  gatherNd,
  hashtableLookup,
  matrixDiag,
  matrixSetDiag,
  mirrorPad,
  nonMaxSuppressionV4,
  nonMaxSuppressionV5,
  oneHot,
  pack,
  pad,
  padV2,
  range,
  rank,
  reshape,
  reverseSequence,
  reverseV2,
  scatterNd,
  segmentSum,
  select,
  selectV2,
  shape,
  slice,
  spaceToBatchNd,
  spaceToDepth,
  sparseToDense,
  split,
  splitV,
  squeeze,
  stridedSlice,
  tile,
  topkV2,
  transpose,
  unique,
  unpack,
  unsortedSegmentMax,
  unsortedSegmentMin,
  unsortedSegmentProd,
  unsortedSegmentSum,
  where,
  zerosLike,
] as const;
