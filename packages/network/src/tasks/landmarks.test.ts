import { describe, expect, it } from "vitest";
import { load } from "../load.ts";
import { fixedModel, square } from "./fixed.test-helper.ts";
import { type LandmarksOptions, landmarks, personLandmarks, showsLandmarks } from "./landmarks.ts";

const open = (bytes: Uint8Array) => load(bytes, { engines: [] });

describe("landmarks", () => {
  it("reads points with scores", async () => {
    const model = await open(fixedModel([["keypoints", [1, 1, 2, 3], [0.5, 0.25, 0.9, 1, 0, 0.1]]]));
    expect(await landmarks(model, square, { names: ["nose"] })).toEqual([
      { name: "nose", x: 2, y: 4, score: Math.fround(0.9) },
      { name: null, x: 0, y: 8, score: Math.fround(0.1) },
    ]);
    const [first] = await landmarks(model, square, { order: ["x", "y", "z"], areShares: false });
    expect(first).toEqual({ name: null, x: 1, y: 1, score: 1 });
  });

  it.each([
    [[], "the list []"],
    [["x"], 'the list ["x"]'],
    [["x", "y", "x"], 'the list ["x","y","x"]'],
    [["x", "y", "size"], 'the list ["x","y","size"]'],
    ["xy", "a string"],
  ])("refuses the order %j", async (order, got) => {
    const model = await open(fixedModel([["keypoints", [1, 1, 2, 3], [0.5, 0.25, 0.9, 1, 0, 0.1]]]));
    // Values that a program without types can pass.
    const options = { order } as unknown as LandmarksOptions;
    await expect(landmarks(model, square, options)).rejects.toMatchObject({
      code: "BAD_OPTION",
      message: `landmarks: order: expected a list with x and y, and perhaps z, score and presence, got ${got}`,
    });
  });

  it("refuses an order of more numbers than a point has", async () => {
    const model = await open(fixedModel([["keypoints", [1, 1, 2, 2], [0.5, 0.25, 1, 0]]]));
    expect(await landmarks(model, square, { order: ["x", "y"] })).toHaveLength(2);
    const order = ["x", "y", "score"] as const;
    await expect(landmarks(model, square, { order })).rejects.toMatchObject({ code: "WRONG_TASK" });
    await expect(landmarks(model, square, { order, outputs: { points: "keypoints" } })).rejects.toMatchObject({
      code: "WRONG_TASK",
    });
  });

  it("reads heatmaps of one row or column that were named", async () => {
    const model = await open(
      fixedModel([
        ["heatmaps", [1, 1, 2, 1], [-9, 0]],
        ["offsets", [1, 1, 2, 2], [0, 0, 0.5, -1]],
      ]),
    );
    const [found] = await landmarks(model, square, { outputs: { heatmaps: "heatmaps", offsets: "offsets" } });
    // The input is 4 x 2: the cell is at 3, 0, and with its offset at 2, 0.5 of it.
    expect(found).toEqual({ name: null, x: 4, y: 2, score: 0.5 });
  });

  it("names the landmarks of a person", async () => {
    const values = Array.from({ length: 51 }, () => 0.5);
    const found = await landmarks(await open(fixedModel([["output", [1, 1, 17, 3], values]])), square);
    expect(found.map(({ name }) => name)).toEqual(personLandmarks);
  });

  it("reads heatmaps with offsets", async () => {
    // 2 rows, 3 columns, 1 landmark: the best is row 1, column 2, whose offset is 0 down and -1 across.
    const heat = ["heatmaps", [1, 2, 3, 1], [-9, -9, -9, -9, -9, 0]] as const;
    const offsets = ["offsets", [1, 2, 3, 2], [...Array(10).fill(7), 0, -1]] as const;
    for (const outputs of [
      [heat, offsets],
      [offsets, heat],
    ]) {
      const [found, ...others] = await landmarks(await open(fixedModel(outputs)), square);
      // The input is 4 x 2: the cell is at 3, 1, and with its offset at 2, 1 of it.
      expect(found).toEqual({ name: null, x: 4, y: 4, score: 0.5 });
      expect(others).toEqual([]);
    }
  });
});

/** Networks that only have the outputs of public ones, in their order and with their names: values stand for what was found. */
describe("the landmarks of public networks", () => {
  const zeros = (count: number) => new Array<number>(count).fill(0);
  /** A list of points that are all 0, except one. */
  const points = (count: number, place: number, point: readonly number[]) =>
    Array.from({ length: count }, (_, index) => (index === place ? point : zeros(point.length))).flat();
  const find = async (outputs: Parameters<typeof fixedModel>[0], place: number, options: LandmarksOptions = {}) => {
    const found = await landmarks(await open(fixedModel(outputs)), square, options);
    return { count: found.length, found: found[place] };
  };
  // The input is 4 x 2 and the picture 8 x 8: a pixel of the input is 2 x 4 of the picture.

  it("MoveNet: [1, 1, 17, 3], shares of the height, of the width, and scores", async () => {
    const values = points(17, 9, [0.5, 0.25, 0.75]);
    const { count, found } = await find([["StatefulPartitionedCall:0", [1, 1, 17, 3], values]], 9);
    expect(count).toBe(17);
    expect(found).toEqual({ name: "left wrist", x: 2, y: 4, score: 0.75 });
  });

  it("MoveNet of several people is refused: its rows are not points", async () => {
    await expect(find([["output_0", [1, 6, 56], zeros(6 * 56)]], 0)).rejects.toMatchObject({ code: "WRONG_TASK" });
  });

  it("PoseNet: heatmaps and offsets among displacements, all offsets down before those across", async () => {
    // 2 rows and 3 columns. Landmark 2 (right eye) is in row 1, column 1; its offset is -0.5 down and 0.5 across.
    const cell = 4;
    const heat = zeros(6 * 17).map((_, index) => (index === cell * 17 + 2 ? Math.log(3) : -9));
    const offsets = zeros(6 * 34);
    offsets[cell * 34 + 2] = -0.5;
    offsets[cell * 34 + 17 + 2] = 0.5;
    const { count, found } = await find(
      [
        ["float_heatmaps", [1, 2, 3, 17], heat],
        ["float_short_offsets", [1, 2, 3, 34], offsets],
        ["float_mid_offsets", [1, 2, 3, 64], zeros(6 * 64)],
        ["float_segments", [1, 2, 3, 1], zeros(6)],
      ],
      2,
    );
    expect(count).toBe(17);
    // Row 1 is the last of the input, y = 1, and column 1 its middle, x = 1.5.
    expect(found).toEqual({ name: "right eye", x: 4, y: 2, score: expect.closeTo(0.75, 6) });
  });

  it("MediaPipe's body: [1, 195], pixels of the input and logits, beside a mask and heatmaps that are not PoseNet's", async () => {
    const { count, found } = await find(
      [
        ["Identity", [1, 195], points(39, 11, [1, 0.5, -7, Math.log(3), 9])],
        ["Identity_1", [1, 1], [1]],
        ["Identity_2", [1, 4, 4, 1], zeros(16)],
        ["Identity_3", [1, 2, 2, 39], zeros(4 * 39)],
        ["Identity_4", [1, 117], zeros(117)],
      ],
      11,
    );
    expect(count).toBe(39);
    expect(found).toEqual({ name: null, x: 2, y: 2, score: expect.closeTo(0.75, 6) });
  });

  it.each([
    ["hand", 21, [1, 63]],
    ["face", 468, [1, 1, 1, 1404]],
    ["face with eyes", 478, [1, 1, 1, 1434]],
  ] as const)(
    "MediaPipe's %s: x, y, z of %d points in pixels of the input, and not the score before them",
    async (_, count, shape) => {
      const outputs = [
        ["Identity_1", [1, 1], [0.5]],
        ["Identity", shape, points(count, 5, [3, 1, -2])],
      ] as const;
      expect(await find(outputs, 5)).toEqual({ count, found: { name: null, x: 6, y: 4, score: 1 } });
      expect(await find(outputs, 5, { areShares: true })).toMatchObject({ found: { x: 24, y: 8 } });
    },
  );

  it("other flat lists need the numbers of a point", async () => {
    const outputs = [["points", [1, 10], points(5, 1, [0.5, 0.25])]] as const;
    const order = ["x", "y"] as const;
    expect(await find(outputs, 1, { order })).toEqual({ count: 5, found: { name: null, x: 4, y: 2, score: 1 } });
    await expect(find(outputs, 1)).rejects.toMatchObject({ code: "WRONG_TASK" });
    await expect(find(outputs, 1, { order: ["x", "y", "z"] })).rejects.toMatchObject({ code: "WRONG_TASK" });
    await expect(find(outputs, 1, { outputs: { points: "points" } })).rejects.toThrow(
      'landmarks: the output "points" [1, 10] shows no points; `order` says what the numbers of a point are',
    );
  });

  it.each([
    [[1, 1, 17, 3], true],
    [[1, 17, 2], true],
    [[1, 17, 4], false],
    [[17, 3], false],
    [[1, 195], true],
    [[2, 195], false],
    [[1, 194], false],
  ])("an output of the shape %j shows them: %s", (shape, isShown) => {
    expect(showsLandmarks({ shape })).toBe(isShown);
  });
});
