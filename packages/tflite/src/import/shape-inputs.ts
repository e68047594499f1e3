/**
 * Operators whose results have shapes that the values of some inputs determine: if such a value is computed at execution, the extents
 * that the file leaves open are not those that it stores.
 */
import type { TfliteOperator } from "../model.ts";

/** The places of these inputs. */
const places: Readonly<Record<string, readonly number[]>> = {
  ARG_MAX: [1],
  ARG_MIN: [1],
  BATCH_TO_SPACE_ND: [1, 2],
  BROADCAST_TO: [1],
  CONV_3D_TRANSPOSE: [0],
  DILATE: [1],
  EMBEDDING_LOOKUP_SPARSE: [2],
  EXPAND_DIMS: [1],
  FILL: [0],
  MEAN: [1],
  MIRROR_PAD: [1],
  MULTINOMIAL: [1],
  NON_MAX_SUPPRESSION_V4: [2],
  NON_MAX_SUPPRESSION_V5: [2],
  ONE_HOT: [1],
  PAD: [1],
  PADV2: [1],
  RANDOM_STANDARD_NORMAL: [0],
  RANDOM_UNIFORM: [0],
  RANGE: [0, 1, 2],
  REDUCE_ALL: [1],
  REDUCE_ANY: [1],
  REDUCE_MAX: [1],
  REDUCE_MIN: [1],
  REDUCE_PROD: [1],
  REDUCE_WINDOW: [2, 3, 4],
  RESHAPE: [1],
  RESIZE_BILINEAR: [1],
  RESIZE_NEAREST_NEIGHBOR: [1],
  RFFT2D: [1],
  SCATTER_ND: [2],
  SEGMENT_SUM: [1],
  SKIP_GRAM: [0],
  SLICE: [1, 2],
  SPACE_TO_BATCH_ND: [1, 2],
  SPARSE_TO_DENSE: [1],
  SPLIT: [0],
  SPLIT_V: [1, 2],
  STRIDED_SLICE: [1, 2, 3],
  SUM: [1],
  TILE: [1],
  TOPK_V2: [1],
  TRANSPOSE: [1],
  TRANSPOSE_CONV: [0],
  UNIQUE: [0],
  UNSORTED_SEGMENT_MAX: [2],
  UNSORTED_SEGMENT_MIN: [2],
  UNSORTED_SEGMENT_PROD: [2],
  UNSORTED_SEGMENT_SUM: [2],
  WHERE: [0],
};

/** The tensors whose values determine the shapes of an operator's results. */
export function shapeInputs({ name, inputs }: TfliteOperator): readonly number[] {
  return (places[name] ?? []).flatMap((place) => inputs[place] ?? []).filter((tensor) => tensor >= 0);
}
