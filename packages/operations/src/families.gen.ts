// Generated from the files in ops/ by `npm run generate`; do not edit.
import type { OperationTypeName } from "@nnhal/types";
import type { Operation } from "./define.ts";

/** Operations that a bundle for a browser loads together. */
export interface Family {
  /** Absent: all operations of the HAL that no other family has. */
  readonly names?: readonly OperationTypeName[];
  load(): Promise<readonly Operation[]>;
}

/** Every operation, in families. */
export const families: readonly Family[] = [
  {
    names: [
      "ADD",
      "AVERAGE_POOL_2D",
      "CONCATENATION",
      "CONV_2D",
      "DEPTHWISE_CONV_2D",
      "DEQUANTIZE",
      "FULLY_CONNECTED",
      "GROUPED_CONV_2D",
      "LOGISTIC",
      "MAX_POOL_2D",
      "MEAN",
      "MUL",
      "PAD",
      "QUANTIZE",
      "RELU",
      "RELU6",
      "RESHAPE",
      "SOFTMAX",
      "TANH",
    ],
    load: async () => Object.values(await import("./family-common.gen.ts")),
  },
  {
    names: [
      "BIDIRECTIONAL_SEQUENCE_LSTM",
      "BIDIRECTIONAL_SEQUENCE_RNN",
      "LSTM",
      "QUANTIZED_16BIT_LSTM",
      "QUANTIZED_LSTM",
      "RNN",
      "SVDF",
      "UNIDIRECTIONAL_SEQUENCE_LSTM",
      "UNIDIRECTIONAL_SEQUENCE_RNN",
    ],
    load: async () => Object.values(await import("./family-recurrent.gen.ts")),
  },
  {
    names: [
      "AXIS_ALIGNED_BBOX_TRANSFORM",
      "DETECTION_POSTPROCESSING",
      "GENERATE_PROPOSALS",
      "HEATMAP_MAX_KEYPOINT",
      "ROI_ALIGN",
      "ROI_POOLING",
    ],
    load: async () => Object.values(await import("./family-regions.gen.ts")),
  },
  {
    load: async () => Object.values(await import("./family-other.gen.ts")),
  },
];
