/** TransformTensorBilinear, TransformLandmarks and Landmarks2TransformMatrix. */
import { flexible } from "@nnhal/test-kit/flexbuffer";
import { describe, expect, test } from "vitest";
import { numbers, runOne } from "./_run.test-helper.ts";

const identity = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
const matrixOf = (data: readonly number[]) => [{ shape: [1, 4, 4], data }];

/** The first two rows of a matrix, as [x by x, x by y, x; y by x, y by y, y]. */
const affine = (a: number, b: number, x: number, c: number, d: number, y: number) => [
  a,
  b,
  0,
  x,
  c,
  d,
  0,
  y,
  0,
  0,
  1,
  0,
  0,
  0,
  0,
  1,
];

function expectNear(actual: readonly number[], wanted: readonly number[]): void {
  expect(actual).toHaveLength(wanted.length);
  for (const [at, value] of wanted.entries()) expect(actual[at]).toBeCloseTo(value, 4);
}

describe("TransformTensorBilinear", () => {
  const customCode = "TransformTensorBilinear";
  const image = { shape: [1, 2, 3, 1], data: [0, 1, 2, 10, 11, 12] };
  const second = (height: number, width: number) => ({
    customCode,
    version: 2,
    options: flexible({ output_height: height, output_width: width }),
  });
  const first = (options: object) => ({ customCode, version: 1, options: flexible(options) });

  test("by the identity is the image, and 0 outside", async () => {
    const wanted = [0, 1, 2, 0, 10, 11, 12, 0, 0, 0, 0, 0];
    expect(await runOne(second(3, 4), image, matrixOf(identity))).toEqual({ shape: [1, 3, 4, 1], data: wanted });
    const version1 = first({ mode: "bilinear", output_size: [3, 4] });
    expect(await runOne(version1, image, matrixOf(identity))).toEqual({ shape: [1, 3, 4, 1], data: wanted });
  });

  test("interpolates: by places of corners in version 1, of middles in version 2", async () => {
    // The image is 10 y + x. Half the size: version 1 has y 0 and x 0, 0.5, 1, …; version 2 has 0.25 less.
    const half = matrixOf(affine(0.5, 0, 0, 0, 0.5, 0));
    const { data } = await runOne(first({ output_size: [3, 6] }), image, half);
    expectNear(data, [0, 0.5, 1, 1.5, 2, 0, 5, 5.5, 6, 6.5, 7, 0, 10, 10.5, 11, 11.5, 12, 0]);
    const middles = await runOne(second(3, 6), image, half);
    // The first row and column are at -0.25, the last column is at 2.25: outside.
    expectNear(middles.data, [
      ...new Array<number>(6).fill(0),
      0,
      2.75,
      3.25,
      3.75,
      4.25,
      0,
      0,
      7.75,
      8.25,
      8.75,
      9.25,
      0,
    ]);
  });

  test("turns, and has channels and batches", async () => {
    const given = { shape: [2, 2, 2, 2], data: numbers(16, 3) };
    // x of the input is y of the output, y is 1 - x.
    const { shape, data } = await runOne(first({ output_size: [2, 2] }), given, matrixOf(affine(0, 1, 0, -1, 0, 1)));
    expect(shape).toEqual([2, 2, 2, 2]);
    const at = (batch: number, y: number, x: number) => given.data.slice(batch * 8 + (y * 2 + x) * 2).slice(0, 2);
    const turned = (batch: number) =>
      [
        [0, 0],
        [0, 1],
        [1, 0],
        [1, 1],
      ].flatMap(([y = 0, x = 0]) => at(batch, 1 - x, y));
    expect(data).toEqual([...turned(0), ...turned(1)]);
  });

  test("is 0 at places that are NaN", async () => {
    const { data } = await runOne(second(1, 2), image, matrixOf(affine(NaN, 0, 0, 0, 1, 0)));
    expect(data).toEqual([0, 0]);
  });

  test.each([
    [second(0, 4), "output_height: expected at least 1, got 0"],
    [second(4, -1), "output_width: expected at least 1, got -1"],
    [first({ output_size: [4] }), "output_width: expected at least 1, got 0"],
    [first({ output_size: 4 }), "output_size is not a list"],
    [first({ output_size: ["a", 4] }), "output_size has something other than numbers"],
    [first({ output_size: [4, 4], mode: "nearest" }), "the mode: expected bilinear, got nearest"],
    [{ customCode, version: 3, options: flexible({}) }, "version 3 is not"],
    [
      { customCode, version: 2, options: Uint8Array.of(1, 2, 3) },
      "custom operator TransformTensorBilinear cannot be read",
    ],
  ])("is refused: case %#", async (operator, message) => {
    await expect(runOne(operator, image, matrixOf(identity))).rejects.toThrow(message);
  });

  test("with a matrix of another size is refused", async () => {
    const small = [{ shape: [1, 3, 3], data: identity.slice(0, 9) }];
    await expect(runOne(second(2, 2), image, small)).rejects.toThrow(
      "the matrix: expected 4 by 4 elements, got [1,3,3]",
    );
  });
});

describe("TransformLandmarks", () => {
  const customCode = "TransformLandmarks";
  const matrix = matrixOf(affine(2, 1, 5, -1, 0.5, -3));
  const move = (x: number, y: number, scale = 1) => [2 * x + y + 5 * scale, -x + 0.5 * y - 3 * scale];

  test("of version 2 has a point in each row, whose z stays", async () => {
    const operator = { customCode, version: 2, options: new Uint8Array(0) };
    const three = { shape: [1, 2, 3], data: [1, 2, 3, -4, 0.5, 6] };
    expect(await runOne(operator, three, matrix)).toEqual({
      shape: [1, 2, 3],
      data: [...move(1, 2), 3, ...move(-4, 0.5), 6],
    });
    const two = { shape: [2, 1, 2], data: [1, 2, -4, 0.5] };
    expect((await runOne(operator, two, matrix)).data).toEqual([...move(1, 2), ...move(-4, 0.5)]);
  });

  test("of version 1 has several points in a row, and scales what is added", async () => {
    const options = flexible({ dimensions: 3, scale: 4 });
    const landmarks = { shape: [1, 1, 1, 6], data: [1, 2, 3, -4, 0.5, 6] };
    expect((await runOne({ customCode, options }, landmarks, matrix)).data).toEqual([
      ...[...move(1, 2, 4), 3],
      ...[...move(-4, 0.5, 4), 6],
    ]);
  });

  const version1 = (options: object) => ({ customCode, version: 1, options: flexible(options) });
  test.each([
    [version1({ dimensions: 4, scale: 1 }), [1, 1, 1, 4], "dimensions: expected 2 or 3, got 4"],
    [version1({ scale: 1 }), [1, 1, 1, 4], "dimensions: expected 2 or 3, got 0"],
    [version1({ dimensions: 3, scale: 1 }), [1, 1, 1, 4], "4 numbers do not divide into points of 3"],
    [version1({ dimensions: 2 }), [1, 1, 1, 4], "the scale is 0"],
    [version1({ dimensions: [2], scale: 1 }), [1, 1, 1, 4], "dimensions has something other than numbers"],
    [{ ...version1({}), version: 2 }, [1, 1, 4], "points: expected 2 or 3 numbers, got 4"],
    [{ ...version1({}), version: 3 }, [1, 1, 4], "version 3 is not"],
  ])("is refused: case %#", async (operator, shape, message) => {
    await expect(runOne(operator, { shape, data: [1, 2, 3, 4] }, matrix)).rejects.toThrow(message);
  });
});

describe("Landmarks2TransformMatrix", () => {
  const customCode = "Landmarks2TransformMatrix";
  const indices = { left_rotation_idx: 0, right_rotation_idx: 1 };
  const version2 = {
    ...indices,
    subset_idxs: [0, 1, 2, 3, 4],
    target_rotation_radians: 0,
    output_height: 8,
    output_width: 16,
    scale_x: 1,
    scale_y: 1,
  };
  const version1 = {
    ...indices,
    subset: [0, 1, 2, 3],
    dimensions: 3,
    landmarks_range: 32,
    bbox_size_multiplier: 1,
    input_hw: [65, 33],
    output_hw: [9, 5],
  };
  const second = (change: object = {}) => ({ customCode, version: 2, options: flexible({ ...version2, ...change }) });
  const first = (change: object = {}) => ({ customCode, version: 1, options: flexible({ ...version1, ...change }) });
  const upright = { shape: [1, 5, 3], data: [4, 6, 9, 12, 6, 9, 8, 4, 9, 8, 12, 9, 6, 6, 9] };

  /** Transforms a point by a matrix. */
  const through = (matrix: readonly number[], x: number, y: number) =>
    [0, 4].map((row) => (matrix[row] ?? 0) * x + (matrix[row + 1] ?? 0) * y + (matrix[row + 3] ?? 0));

  test("of version 2 maps the corners of the part to what is around the landmarks", async () => {
    const { shape, data } = await runOne(second(), upright);
    expect(shape).toEqual([1, 4, 4]);
    expectNear(data.slice(8), [0, 0, 1, 0, 0, 0, 0, 1]);
    expectNear([data[2] ?? 1, data[6] ?? 1], [0, 0]);
    expectNear(through(data, 0, 0), [4, 4]);
    expectNear(through(data, 16, 8), [12, 12]);
    expectNear(through(data, 16, 0), [12, 4]);
    // Twice as wide around the same middle.
    const wide = await runOne(second({ scale_x: 2 }), upright);
    expectNear(through(wide.data, 0, 0), [0, 4]);
    expectNear(through(wide.data, 8, 4), [8, 8]);
  });

  test("of version 2 turns with the landmarks, and to the target", async () => {
    // All landmarks turned by an angle around 0: the part's corners turn with them.
    const angle = 0.5;
    const turn = ([x, y]: readonly number[], by = angle) =>
      [(x ?? 0) * Math.cos(by) - (y ?? 0) * Math.sin(by), (x ?? 0) * Math.sin(by) + (y ?? 0) * Math.cos(by)] as const;
    const points = Array.from({ length: 5 }, (_, index) => turn(upright.data.slice(3 * index, 3 * index + 2)));
    const turned = { shape: [1, 5, 3], data: points.flatMap(([x, y]) => [x, y, 1]) };
    const { data } = await runOne(second(), turned);
    expectNear(through(data, 0, 0), turn([4, 4]));
    expectNear(through(data, 16, 8), turn([12, 12]));
    const aimed = await runOne(second({ target_rotation_radians: angle }), turned);
    // Then nothing is left to turn: around the landmarks as they are.
    const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
    expectNear(through(aimed.data, 0, 0), [Math.min(...xs), Math.min(...ys)]);
    expectNear(through(aimed.data, 16, 8), [Math.max(...xs), Math.max(...ys)]);
  });

  test("takes an odd number of landmarks, and a vector of integers", async () => {
    const some = await runOne(second({ subset_idxs: [0, 2, 3] }), upright);
    expectNear(through(some.data, 0, 0), [4, 4]);
    expectNear(through(some.data, 16, 8), [8, 12]);
  });

  test("of version 1 maps among the first and last pixels", async () => {
    const { shape, data } = await runOne(first(), { shape: [1, 1, 1, 15], data: upright.data });
    expect(shape).toEqual([1, 4, 4]);
    // Landmarks of 0 to 32 are the pixels 0 to 32 across and 0 to 64 down: 4 to 12, and 8 to 24.
    expectNear(through(data, 0, 0), [4, 8]);
    expectNear(through(data, 4, 8), [12, 24]);
    expectNear(data.slice(8), [0, 0, 1, 0, 0, 0, 0, 1]);
    const wide = await runOne(first({ bbox_size_multiplier: 2 }), { shape: [1, 1, 1, 15], data: upright.data });
    expectNear(through(wide.data, 0, 0), [0, 0]);
    expectNear(through(wide.data, 2, 4), [8, 16]);
  });

  test("of version 1 is the product of its four transformations", async () => {
    const landmarks = { shape: [1, 1, 1, 15], data: numbers(15, 11).map((value) => 16 + 3 * value) };
    const { data } = await runOne(first(), landmarks);
    const point = (index: number) => landmarks.data.slice(3 * index, 3 * index + 2) as [number, number];
    const [left, right] = [point(0), point(1)];
    const angle = -Math.atan((right[1] - left[1]) / (right[0] - left[0]));
    const rotation = (by: number) => [Math.cos(by), -Math.sin(by), 0, Math.sin(by), Math.cos(by), 0, 0, 0, 1];
    const times = (a: readonly number[], b: readonly number[], columns = 3) =>
      Array.from({ length: 3 * columns }, (_, at) =>
        [0, 1, 2].reduce(
          (sum, k) => sum + (a[3 * Math.floor(at / columns) + k] ?? 0) * (b[k * columns + (at % columns)] ?? 0),
          0,
        ),
      );
    const rotated = [0, 1, 2, 3].map((index) => times(rotation(angle), [...point(index), 1], 1));
    const range = (axis: number) => {
      const values = rotated.map((one) => one[axis] ?? 0);
      return [Math.min(...values), Math.max(...values)] as const;
    };
    const [[x0, x1], [y0, y1]] = [range(0), range(1)];
    const middle = times(rotation(-angle), [(x0 + x1) / 2, (y0 + y1) / 2, 1], 1);
    const scale = [(x1 - x0) / 32, 0, 0, 0, (y1 - y0) / 32, 0, 0, 0, 1];
    const turn = rotation(-angle);
    [turn[2], turn[5]] = [((middle[0] ?? 0) / 32) * 2 - 1, ((middle[1] ?? 0) / 32) * 2 - 1];
    const wanted = times(times(times([16, 0, 16, 0, 32, 32, 0, 0, 1], turn), scale), [
      2 / 4,
      0,
      -1,
      0,
      2 / 8,
      -1,
      0,
      0,
      1,
    ]);
    expectNear(
      [0, 1, 3, 4, 5, 7].map((at) => data[at] ?? 0),
      wanted.slice(0, 6),
    );
  });

  test.each([
    [second({ left_rotation_idx: 5 }), "there is no landmark 5 in 15 numbers"],
    [second({ right_rotation_idx: -1 }), "there is no landmark -1"],
    [second({ subset_idxs: [0, 5] }), "there is no landmark 5"],
    [second({ subset_idxs: [] }), "subset_idxs has to have elements"],
    [second({ subset_idxs: 4 }), "subset_idxs is not a list"],
    [second({ output_height: 0 }), "output_height: expected at least 1, got 0"],
    [second({ scale_y: 0 }), "the scales: expected numbers above 0, got 1 and 0"],
    [first({ dimensions: 2 }), "dimensions: expected 3, got 2"],
    [first({ landmarks_range: 0 }), "landmarks_range: expected at least 1, got 0"],
    [first({ bbox_size_multiplier: 0 }), "bbox_size_multiplier is 0"],
    [first({ input_hw: [4] }), "input_width: expected at least 1, got 0"],
    [first({ output_hw: [-1, 4] }), "output_height: expected at least 1, got -1"],
    [{ ...second(), version: 3 }, "version 3 is not"],
  ])("is refused: case %#", async (operator, message) => {
    await expect(runOne(operator, upright)).rejects.toThrow(message);
  });
});
