/** Inputs of the target `custom`: an operator, its version, and its options. */
import {
  bool,
  defineExtension,
  defineOperation,
  float32,
  omittable,
  optional,
  tensor,
} from "@nnhal/operations/authoring";
import { flexible } from "@nnhal/test-kit/flexbuffer";
import { type TfliteModel, writeTflite } from "@nnhal/tflite";
import type { Case } from "./cases.ts";

/** An operation whose options are those of their names in a FlexBuffer. */
const picked = defineOperation({
  name: "Picked",
  code: 0,
  summary: "Picks elements, and scales them.",
  params: [
    tensor("input", "TENSOR_FLOAT32"),
    tensor("places", "TENSOR_INT32"),
    omittable(tensor("factors", "TENSOR_FLOAT32")),
    bool("isNegated"),
    optional("1.2", float32("shift"), 0),
  ],
  outputs: [tensor("output", "TENSOR_FLOAT32")],
  types: [["1.2"]],
  infer: ({ places }) => ({ output: { dimensions: places.dimensions } }),
  reference({ input, places, factors, isNegated, shift }, { output }) {
    for (const [index, place] of places.data.entries()) {
      const value = (input.data[place] ?? 0) * (factors?.data[index] ?? 1) + shift;
      output.data[index] = isNegated ? -value : value;
    }
  },
});

/** An extension of that operation. */
export const pickedExtension = defineExtension({ name: "com.example.picked", operations: [picked] });

/** A custom operator that inputs may be for: the shapes of its inputs, and how many outputs it has. */
interface Operator {
  readonly customCode: string;
  readonly inputs: readonly (readonly number[])[];
  readonly outputs: number;
  /** Places of inputs of INT32; others are of FLOAT32. */
  readonly integers?: readonly number[];
}

const image = [1, 4, 4, 2];
const matrix = [1, 4, 4];

const operators: readonly Operator[] = [
  { customCode: "Picked", inputs: [[8]], outputs: 1 },
  { customCode: "Convolution2DTransposeBias", inputs: [image, [3, 2, 2, 2], [3]], outputs: 1 },
  { customCode: "MaxPoolingWithArgmax2D", inputs: [image], outputs: 2 },
  { customCode: "MaxUnpooling2D", inputs: [image, image], outputs: 1 },
  { customCode: "TransformTensorBilinear", inputs: [image, matrix], outputs: 1 },
  { customCode: "TransformLandmarks", inputs: [[1, 4, 3], matrix], outputs: 1 },
  { customCode: "TransformLandmarks", inputs: [[1, 1, 1, 12], matrix], outputs: 1 },
  { customCode: "Landmarks2TransformMatrix", inputs: [[1, 4, 3]], outputs: 1 },
  { customCode: "AudioSpectrogram", inputs: [[16, 1]], outputs: 1 },
  {
    customCode: "TFLite_Detection_PostProcess",
    inputs: [
      [1, 4, 4],
      [1, 4, 3],
      [4, 4],
    ],
    outputs: 4,
  },
  { customCode: "Resampler", inputs: [image, image], outputs: 1 },
  { customCode: "LiteRtMaxUnpooling2D", inputs: [image, image], outputs: 1, integers: [1] },
];

/** A file of the operator that the first byte of an input says, of the version that the second says, with the rest as options. */
export function customFile(input: Uint8Array): { readonly customCode: string; readonly bytes: Uint8Array } {
  const operator = operators[(input[0] ?? 0) % operators.length] ?? { customCode: "", inputs: [], outputs: 0 };
  const { customCode, inputs, outputs, integers = [] } = operator;
  const tensors = [...inputs, ...Array.from({ length: outputs }, () => [1])].map((shape, index) => ({
    name: `t${index}`,
    type: integers.includes(index) ? ("INT32" as const) : ("FLOAT32" as const),
    shape,
    isVariable: false,
  }));
  const places = tensors.map((_, index) => index);
  const given = { inputs: places.slice(0, inputs.length), outputs: places.slice(inputs.length) };
  const version = 1 + ((input[1] ?? 0) % 3);
  const custom = { name: "CUSTOM", customCode, version, options: {}, customOptions: input.slice(2), ...given };
  const model: TfliteModel = {
    version: 3,
    description: "",
    metadata: [],
    signatures: [],
    subgraphs: [{ name: "", tensors, operators: [custom], ...given }],
  };
  return { customCode, bytes: writeTflite(model) };
}

/** Options of each operator: C structs, and FlexBuffers with the kinds of values that there are. */
export function customSeeds(): Case[] {
  const struct = (...values: number[]) => [...new Uint8Array(Int32Array.from(values).buffer)];
  const pooling = struct(1, 2, 2, 2, 2, 0);
  const seed = (name: string, place: number, version: number, options: Iterable<number>): Case => ({
    name,
    bytes: Uint8Array.of(place, version - 1, ...options),
  });
  const size = { output_height: 4, output_width: 4 };
  const rotation = { left_rotation_idx: 0, right_rotation_idx: 1 };
  const scales = { scale_x: 1.5, scale_y: 1, target_rotation_radians: 0.5 };
  const version1 = {
    input_hw: [8, 8],
    output_hw: [4, 4],
    dimensions: 3,
    landmarks_range: 8,
    bbox_size_multiplier: 1.5,
  };
  const detection = {
    ...{ max_detections: 2, max_classes_per_detection: 1, num_classes: 2, nms_score_threshold: -1 },
    ...{ nms_iou_threshold: 0.5, y_scale: 1, x_scale: 1, h_scale: 1, w_scale: 1, use_regular_nms: false },
  };
  return [
    seed("lists", 0, 1, flexible({ places: [1, 2, 7], factors: [0.5, 2], isNegated: true, shift: 3 })),
    seed("lists inside each other", 0, 1, flexible({ places: [[1], { a: "text" }], isNegated: 1, shift: -1.5 })),
    seed("Convolution2DTransposeBias", 1, 1, struct(1, 2, 2)),
    seed("MaxPoolingWithArgmax2D", 2, 1, pooling),
    seed("MaxUnpooling2D", 3, 1, pooling),
    seed("TransformTensorBilinear", 4, 2, flexible(size)),
    seed("TransformTensorBilinear 1", 4, 1, flexible({ mode: "bilinear", output_size: [4, 4] })),
    seed("TransformLandmarks", 5, 2, []),
    seed("TransformLandmarks 1", 6, 1, flexible({ dimensions: 3, scale: 2 })),
    seed("Landmarks2TransformMatrix", 7, 2, flexible({ ...rotation, ...size, ...scales, subset_idxs: [0, 1, 3] })),
    seed("Landmarks2TransformMatrix 1", 7, 1, flexible({ ...rotation, ...version1, subset: [0, 1, 3] })),
    seed("AudioSpectrogram", 8, 1, flexible({ window_size: 4, stride: 2, magnitude_squared: true })),
    seed("TFLite_Detection_PostProcess", 9, 1, flexible(detection)),
    seed("Resampler", 10, 1, []),
    seed("LiteRtMaxUnpooling2D", 11, 1, pooling),
  ];
}
