// Generated from the files in ops/ by `npm run generate`; do not edit.
import { argmax } from "./ops/argmax.ts";
import { argmin } from "./ops/argmin.ts";
import { cast } from "./ops/cast.ts";
import { concatenation } from "./ops/concatenation.ts";
import { expandDims } from "./ops/expand-dims.ts";
import { fill } from "./ops/fill.ts";
import { gather } from "./ops/gather.ts";
import { gatherNd } from "./ops/gather-nd.ts";
import { mirrorPad } from "./ops/mirror-pad.ts";
import { oneHot } from "./ops/one-hot.ts";
import { pack } from "./ops/pack.ts";
import { pad } from "./ops/pad.ts";
import { padV2 } from "./ops/pad-v2.ts";
import { range } from "./ops/range.ts";
import { rank } from "./ops/rank.ts";
import { reshape } from "./ops/reshape.ts";
import { scatterNd } from "./ops/scatter-nd.ts";
import { select } from "./ops/select.ts";
import { selectV2 } from "./ops/select-v2.ts";
import { shape } from "./ops/shape.ts";
import { slice } from "./ops/slice.ts";
import { split } from "./ops/split.ts";
import { splitV } from "./ops/split-v.ts";
import { squeeze } from "./ops/squeeze.ts";
import { stridedSlice } from "./ops/strided-slice.ts";
import { tile } from "./ops/tile.ts";
import { topkV2 } from "./ops/topk-v2.ts";
import { transpose } from "./ops/transpose.ts";
import { unpack } from "./ops/unpack.ts";
import { where } from "./ops/where.ts";
import { zerosLike } from "./ops/zeros-like.ts";

/** Every operation, in the order of the names. */
export const operations = [
  argmax,
  argmin,
  cast,
  concatenation,
  expandDims,
  fill,
  gather,
  gatherNd,
  mirrorPad,
  oneHot,
  pack,
  pad,
  padV2,
  range,
  rank,
  reshape,
  scatterNd,
  select,
  selectV2,
  shape,
  slice,
  split,
  splitV,
  squeeze,
  stridedSlice,
  tile,
  topkV2,
  transpose,
  unpack,
  where,
  zerosLike,
] as const;
