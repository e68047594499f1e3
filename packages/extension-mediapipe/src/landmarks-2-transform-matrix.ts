/** Landmarks2TransformMatrix: the transformation that cuts the part of an image around some landmarks out, upright. */
import {
  defineOperation,
  ensure,
  float32,
  int32,
  optional,
  read,
  type StoredOptions,
  tensor,
} from "@nnhal/operations/authoring";
import { numberOption, numbersOption } from "./_landmarks.ts";
import { ensurePositive, ensureVersion } from "./_struct.ts";

export const landmarks2TransformMatrix = defineOperation({
  name: "Landmarks2TransformMatrix",
  code: 5,
  summary: "Matrix of the transformation from a rotated, scaled part of an image around landmarks to the image.",
  params: [
    // x, y and z of each.
    tensor("landmarks", "TENSOR_FLOAT32"),
    // Those that the part is around.
    read(tensor("subset_idxs", "TENSOR_INT32")),
    // 1 or 2: which of the operator's two computations.
    int32("version"),
    // The landmarks whose direction becomes that of target_rotation_radians; of version 1 that of the x axis.
    int32("left_rotation_idx"),
    int32("right_rotation_idx"),
    int32("output_height"),
    int32("output_width"),
    // Ratio of the size of the part to that of the bounding box of the landmarks.
    float32("scale_x"),
    float32("scale_y"),
    float32("target_rotation_radians"),
    // Of version 1: the image's size in pixels, and in the coordinates of landmarks.
    optional("1.2", int32("input_height"), 1),
    optional("1.2", int32("input_width"), 1),
    optional("1.2", int32("landmarks_range"), 1),
  ],
  outputs: [tensor("matrix", "TENSOR_FLOAT32")],
  types: [["1.2"]],
  customOptions(stored) {
    ensureVersion(stored, 2);
    return stored.version === 1 ? firstOptions(stored) : secondOptions(stored);
  },
  infer({ landmarks, subset_idxs: subset, version, left_rotation_idx: left, right_rotation_idx: right, ...sizes }) {
    ensure(version === 1 || version === 2, () => `version ${version} is not known, only 1 and 2`);
    const count = landmarks.dimensions.reduce((product, extent) => product * extent, 1);
    for (const index of [left, right, ...subset.data]) {
      ensure(index >= 0 && 3 * index + 2 < count, () => `there is no landmark ${index} in ${count} numbers`);
    }
    const { output_height, output_width, input_height, input_width, landmarks_range, scale_x, scale_y } = sizes;
    ensurePositive({ output_height, output_width, input_height, input_width, landmarks_range });
    if (version === 1) ensure(scale_x !== 0, () => "bbox_size_multiplier is 0");
    else
      ensure(scale_x > 0 && scale_y > 0, () => `the scales: expected numbers above 0, got ${scale_x} and ${scale_y}`);
    return { matrix: { dimensions: [1, 4, 4] } };
  },
  reference({ landmarks, subset_idxs: subset, version, ...options }, { matrix }) {
    const point = (index: number): Point => [landmarks.data[3 * index], landmarks.data[3 * index + 1]];
    const points = Array.from(subset.data, point);
    const left = point(options.left_rotation_idx);
    const right = point(options.right_rotation_idx);
    const [x, y] = version === 1 ? first(points, left, right, options) : second(points, left, right, options);
    matrix.data.set([x[0], x[1], 0, x[2], y[0], y[1], 0, y[2], 0, 0, 1, 0, 0, 0, 0, 1]);
  },
});

function firstOptions(stored: StoredOptions) {
  const options = stored.map();
  const dimensions = numberOption(options, "dimensions");
  ensure(dimensions === 3, () => `dimensions: expected 3, got ${dimensions}`);
  const [input_height = 0, input_width = 0] = numbersOption(options, "input_hw");
  const [output_height = 0, output_width = 0] = numbersOption(options, "output_hw");
  const scale = numberOption(options, "bbox_size_multiplier");
  const sizes = { input_height, input_width, output_height, output_width, scale_x: scale, scale_y: scale };
  const landmarks_range = numberOption(options, "landmarks_range");
  const subset_idxs = numbersOption(options, "subset");
  return { version: 1, ...rotation(stored), ...sizes, landmarks_range, subset_idxs, target_rotation_radians: 0 };
}

function secondOptions(stored: StoredOptions) {
  const options = stored.map();
  const names = ["output_height", "output_width", "scale_x", "scale_y", "target_rotation_radians"] as const;
  const numbers = Object.fromEntries(names.map((name) => [name, numberOption(options, name)]));
  return { version: 2, ...rotation(stored), ...numbers, subset_idxs: numbersOption(options, "subset_idxs") };
}

function rotation({ map }: StoredOptions) {
  const options = map();
  const left_rotation_idx = numberOption(options, "left_rotation_idx");
  return { left_rotation_idx, right_rotation_idx: numberOption(options, "right_rotation_idx") };
}

type Point = readonly [x: number, y: number];

/** The coefficients of x, of y and of 1. */
type Row = readonly [byX: number, byY: number, offset: number];

interface Sizes {
  readonly output_height: number;
  readonly output_width: number;
  readonly scale_x: number;
  readonly scale_y: number;
  readonly target_rotation_radians: number;
  readonly input_height: number;
  readonly input_width: number;
  readonly landmarks_range: number;
}

/** Returns the bounding box of points after a rotation: its middle, rotated back, and its size. */
function around(points: readonly Point[], angle: number) {
  const rotated = points.map((point) => rotate(point, angle));
  const [xs, ys] = [rotated.map(([x]) => x), rotated.map(([, y]) => y)];
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const middle = rotate([(left + right) / 2, (top + bottom) / 2], -angle);
  return { middle, width: right - left, height: bottom - top };
}

function rotate([x, y]: Point, angle: number): Point {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return [x * cos - y * sin, x * sin + y * cos];
}

/** Version 2: pixels of the part, from its middle on scaled and rotated, around the middle of the landmarks. */
function second(points: readonly Point[], left: Point, right: Point, sizes: Sizes): readonly [x: Row, y: Row] {
  const { output_height, output_width, scale_x, scale_y, target_rotation_radians } = sizes;
  const angle = target_rotation_radians - Math.atan2(right[1] - left[1], right[0] - left[0]);
  const { middle, width, height } = around(points, angle);
  const byX = rotate([(scale_x * width) / output_width, 0], -angle);
  const byY = rotate([0, (scale_y * height) / output_height], -angle);
  const row = (axis: 0 | 1): Row => {
    const offset = middle[axis] - (byX[axis] * output_width) / 2 - (byY[axis] * output_height) / 2;
    return [byX[axis], byY[axis], offset];
  };
  return [row(0), row(1)];
}

/** Version 1: the same among coordinates from -1 to 1, which the first and the last pixel have. */
function first(points: readonly Point[], left: Point, right: Point, sizes: Sizes): readonly [x: Row, y: Row] {
  const { output_height, output_width, input_height, input_width, landmarks_range, scale_x, scale_y } = sizes;
  const angle = -Math.atan((right[1] - left[1]) / (right[0] - left[0]));
  const { middle, width, height } = around(points, angle);
  const halves = [(input_width - 1) / 2, (input_height - 1) / 2] as const;
  const byX = rotate([(width * scale_x) / landmarks_range, 0], -angle);
  const byY = rotate([0, (height * scale_y) / landmarks_range], -angle);
  const row = (axis: 0 | 1): Row => {
    const half = halves[axis];
    const offset = half * ((middle[axis] / landmarks_range) * 2 - 1 - byX[axis] - byY[axis]) + half;
    return [(half * byX[axis] * 2) / (output_width - 1), (half * byY[axis] * 2) / (output_height - 1), offset];
  };
  return [row(0), row(1)];
}
