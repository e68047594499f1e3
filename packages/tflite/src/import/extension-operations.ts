/** The operations of the extension for .tflite, and what the import knows of them. */
import { tfliteExtension } from "@nnhal/extension-tflite";

/** The operations. */
export const { operations } = tfliteExtension;

/**
 * Operators that move elements, or choose some of them. TensorFlow Lite's kernels copy what is stored: if the result has another
 * quantisation than the input, its elements are the input's all the same.
 */
export const movingOperators: ReadonlySet<string> = new Set([
  ...["RESHAPE", "SQUEEZE", "EXPAND_DIMS", "SLICE", "STRIDED_SLICE", "GATHER", "GATHER_ND", "TRANSPOSE", "REVERSE_V2"],
  ...[
    "REVERSE_SEQUENCE",
    "SPLIT",
    "SPLIT_V",
    "UNPACK",
    "BROADCAST_TO",
    "SELECT",
    "SELECT_V2",
    "TOPK_V2",
    "ONE_HOT",
    "FILL",
  ],
  ...["PAD", "PADV2", "SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND", "SPACE_TO_DEPTH", "DEPTH_TO_SPACE", "MIRROR_PAD"],
  ...["DYNAMIC_UPDATE_SLICE", "RESIZE_NEAREST_NEIGHBOR", "SCATTER_ND", "DILATE", "TILE", "UNIQUE", "ZEROS_LIKE"],
  ...["MATRIX_DIAG", "MATRIX_SET_DIAG", "SPARSE_TO_DENSE", "HASHTABLE_LOOKUP"],
  // Those of StableHLO take no account of scales either where they compute.
  ...["STABLEHLO_GATHER", "STABLEHLO_PAD", "STABLEHLO_SCATTER", "STABLEHLO_REDUCE_WINDOW", "STABLEHLO_SHIFT_LEFT"],
  ...["STABLEHLO_ADD", "STABLEHLO_AND", "STABLEHLO_MAXIMUM", "STABLEHLO_MINIMUM", "STABLEHLO_MULTIPLY"],
]);
