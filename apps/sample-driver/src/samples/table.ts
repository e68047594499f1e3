/**
 * Android's sample drivers as data: what each reports and supports (NN HAL reference, "Sample drivers"). A figure is `execTime` and
 * `powerUsage`, relative to the CPU.
 */

/** The name of a sample device. */
export type SampleName = (typeof samples)[number]["name"];

/** `execTime`, then `powerUsage`. */
export type Figures = readonly [execTime: number, powerUsage: number];

/** One sample device. */
export interface Sample {
  readonly name: string;
  /** FLOAT32 and TENSOR_FLOAT32. Default: as `rest`. */
  readonly float32?: Figures;
  /** Relaxed float32, scalar and tensor. Default: as `rest`. */
  readonly relaxed?: Figures;
  /** All other types, IF and WHILE. */
  readonly rest: Figures;
  /** Types of the first operand, of operations that it takes. Default: all. */
  readonly firstTypes?: readonly string[];
  /** Operations that it takes. Default: all. */
  readonly operations?: readonly string[];
  /** True if it lists OEM_OPERATION, whose execution fails. Default: false. */
  readonly hasOem?: boolean;
}

/** All sample devices. */
export const samples = [
  { name: "nnapi-sample_all", rest: [1.1, 1.1], hasOem: true },
  {
    name: "nnapi-sample_float_fast",
    float32: [0.8, 1.2],
    relaxed: [0.7, 1.1],
    rest: [1, 1],
    firstTypes: ["TENSOR_FLOAT32"],
  },
  {
    name: "nnapi-sample_float_slow",
    float32: [1.3, 0.7],
    relaxed: [1.2, 0.6],
    rest: [1, 1],
    firstTypes: ["TENSOR_FLOAT32"],
  },
  { name: "nnapi-sample_quant", rest: [50, 1], firstTypes: ["TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED"] },
  {
    name: "nnapi-sample_minimal",
    rest: [0.8, 0.8],
    firstTypes: ["TENSOR_FLOAT32"],
    operations: ["ADD", "CONCATENATION", "CONV_2D"],
  },
  {
    name: "nnapi-sample_float_xnnpack",
    float32: [0.7, 0.7],
    relaxed: [0.7, 0.7],
    rest: [1, 1],
    firstTypes: ["TENSOR_FLOAT32"],
    operations: [
      ...["ABS", "ADD", "AVERAGE_POOL_2D", "CONV_2D", "DEPTHWISE_CONV_2D", "DEPTH_TO_SPACE", "DIV", "ELU", "FLOOR"],
      ...[
        "FULLY_CONNECTED",
        "HARD_SWISH",
        "LOGISTIC",
        "MAXIMUM",
        "MAX_POOL_2D",
        "MEAN",
        "MINIMUM",
        "MUL",
        "NEG",
        "PAD",
      ],
      ...["PAD_V2", "PRELU", "RELU", "RELU1", "RELU6", "RESHAPE", "RESIZE_BILINEAR", "SOFTMAX", "SQRT", "SUB"],
      "TRANSPOSE_CONV_2D",
    ],
  },
] as const satisfies readonly Sample[];

/** The version string of every sample device. */
export const sampleVersion = "JUST_AN_EXAMPLE";

/** Operations whose first data operand has another index than 0. */
export const firstDataOperand: Readonly<Record<string, number>> = { SELECT: 1 };
