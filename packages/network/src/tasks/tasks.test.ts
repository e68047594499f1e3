import { describe, expect, it } from "vitest";
import { load } from "../load.ts";
import type { Model } from "../model.ts";
import { modelOf, passingModel, tensor } from "../models.test-helper.ts";
import { top } from "../scores.ts";
import { classify } from "./classify.ts";
import { classifyAudio } from "./classify-audio.ts";
import { detect } from "./detect.ts";
import { cosineSimilarity, embed } from "./embed.ts";
import { type LandmarksOptions, landmarks, personLandmarks, showsLandmarks } from "./landmarks.ts";
import { segment } from "./segment.ts";
import { resample, sound } from "./sound.ts";

const open = (bytes: Uint8Array) => load(bytes, { engines: [] });
const bytesOf = (values: readonly number[]) => new Uint8Array(Float32Array.from(values).buffer);

/**
 * A model that takes a picture of 4 x 2 and whose outputs are fixed: each is a constant to which the picture's first number is added
 * after it was multiplied by 0.
 */
function fixedModel(
  outputs: readonly (readonly [name: string, shape: readonly number[], values: readonly number[]])[],
) {
  const options = { fusedActivationFunction: "NONE" };
  const tensors = [
    tensor("image", { shape: [1, 2, 4, 3] }),
    tensor("begin", { type: "INT32", shape: [4], data: new Uint8Array(16) }),
    tensor("size", { type: "INT32", shape: [4], data: new Uint8Array(Int32Array.of(1, 1, 1, 1).buffer) }),
    tensor("first", { shape: [1, 1, 1, 1] }),
    tensor("one", { type: "INT32", shape: [1], data: new Uint8Array(Int32Array.of(1).buffer) }),
    tensor("flat", { shape: [1] }),
    tensor("nothing", { shape: [1], data: bytesOf([0]) }),
    tensor("zero", { shape: [1] }),
  ];
  const first = tensors.length;
  for (const [name, shape, values] of outputs) {
    tensors.push(tensor(name, { shape }), tensor(`${name} values`, { shape, data: bytesOf(values) }));
  }
  return modelOf({
    tensors,
    inputs: [0],
    outputs: outputs.map((_, place) => first + 2 * place),
    operators: [
      { name: "SLICE", version: 1, inputs: [0, 1, 2], outputs: [3], options: {} },
      { name: "RESHAPE", version: 1, inputs: [3, 4], outputs: [5], options: { newShape: [1] } },
      { name: "MUL", version: 1, inputs: [5, 6], outputs: [7], options },
      ...outputs.map((_, place) => ({
        name: "ADD",
        version: 1,
        inputs: [first + 2 * place + 1, 7],
        outputs: [first + 2 * place],
        options,
      })),
    ],
  });
}

/** A picture of 8 x 8. */
const square = { width: 8, height: 8, data: new Uint8Array(8 * 8 * 3) };

describe("top", () => {
  it("takes lists, arrays and tensors, with their labels", () => {
    expect(top([0.1, 0.7, 0.2], 2)).toEqual([
      { index: 1, label: null, score: 0.7 },
      { index: 2, label: null, score: 0.2 },
    ]);
    const scores = { data: Float32Array.of(1, 3), labels: ["ant", "bee"] };
    expect(top(scores, 1)).toEqual([{ index: 1, label: "bee", score: 3 }]);
    expect(top(scores, 1, ["x", "y"])[0]?.label).toBe("y");
  });
});

describe("classify", () => {
  it("returns the best classes", async () => {
    const model = await open(passingModel({ shape: [3] }));
    expect(await classify(model, [0.1, 0.6, 0.3], { top: 1, labels: ["ant", "bee", "cat"] })).toEqual([
      { index: 1, label: "bee", score: Math.fround(0.6) },
    ]);
    await expect(classify(model, [1, 2, 3], { output: "other" })).rejects.toMatchObject({ code: "WRONG_NAME" });
  });

  it("says so if no output has scores", async () => {
    await expect(
      classify(await open(fixedModel([["map", [1, 2, 2, 3], Array(12).fill(0)]])), square),
    ).rejects.toMatchObject({
      code: "WRONG_NAME",
      message: expect.stringContaining("no single output has one number for each class"),
    });
  });
});

describe("detect", () => {
  const boxes = ["boxes", [1, 2, 4], [0, 0.5, 1, 1, 0.25, 0.25, 0.75, 0.75]] as const;
  const classes = ["classes", [1, 2], [1, 0]] as const;
  const scores = ["scores", [1, 2], [0.6, 0.9]] as const;
  const count = ["count", [1], [2]] as const;
  const labels = ["ant", "bee"];

  it("returns boxes in pixels of the picture, best first", async () => {
    const found = [
      { index: 0, label: "ant", score: Math.fround(0.9), box: { left: 2, top: 2, right: 6, bottom: 6 } },
      { index: 1, label: "bee", score: Math.fround(0.6), box: { left: 4, top: 0, right: 8, bottom: 8 } },
    ];
    // By name, in any order; and by shape in TensorFlow's order.
    expect(await detect(await open(fixedModel([count, scores, classes, boxes])), square, { labels })).toEqual(found);
    const plain = [
      ["a", boxes[1], boxes[2]],
      ["b", classes[1], classes[2]],
      ["c", scores[1], scores[2]],
      ["d", count[1], count[2]],
    ] as const;
    const model = await open(fixedModel(plain));
    expect(await detect(model, square, { labels, threshold: 0.7 })).toEqual(found.slice(0, 1));
    const swapped = await detect(model, square, { threshold: -1, outputs: { classes: "c", scores: "b" } });
    expect(swapped.map(({ score }) => score)).toEqual([1, 0]);
    const sideways = await detect(model, square, { order: ["left", "top", "right", "bottom"] });
    expect(sideways[1]?.box).toEqual({ left: 0, top: 4, right: 8, bottom: 8 });
  });

  it("counts the background around a picture out", async () => {
    // In an input of 4 x 2 the square is the middle half, from 0.25 to 0.75.
    const model = await open(fixedModel([boxes, classes, scores]));
    const [first, second] = await detect(model, { ...square, use: { fit: "contain" } });
    expect(first?.box).toEqual({ left: 0, top: 2, right: 8, bottom: 6 });
    expect(second?.box).toEqual({ left: 4, top: 0, right: 8, bottom: 8 });
  });

  it("names what is missing", async () => {
    await expect(detect(await open(fixedModel([boxes])), square)).rejects.toMatchObject({
      code: "WRONG_TASK",
      message: expect.stringContaining('no output of the model can be its classes or scores; the outputs are "boxes"'),
    });
    const model = await open(fixedModel([boxes, classes, scores]));
    await expect(detect(model, square, { outputs: { boxes: "other" } })).rejects.toMatchObject({ code: "WRONG_NAME" });
    await expect(detect(await open(passingModel({ shape: [3] })), square)).rejects.toMatchObject({
      code: "WRONG_TASK",
    });
  });
});

describe("segment", () => {
  it("returns the class of each pixel, from classes or from scores", async () => {
    const classes = await open(fixedModel([["mask", [1, 2, 2], [0, 1, 1, 1]]]));
    const scores = await open(fixedModel([["map", [1, 2, 2, 2], [5, 1, 0, 1, 0, 1, 0, 1]]]));
    for (const model of [classes, scores]) {
      const { width, height, classes, areas } = await segment(model, square, { labels: ["none", "cat"] });
      expect({ width, height, areas }).toEqual({
        width: 8,
        height: 8,
        areas: [
          { index: 1, label: "cat", share: 0.75 },
          { index: 0, label: "none", share: 0.25 },
        ],
      });
      expect([...classes.subarray(0, 8)]).toEqual([0, 0, 0, 0, 1, 1, 1, 1]);
      expect([...classes.subarray(56)]).toEqual(Array(8).fill(1));
    }
    await expect(segment(await open(passingModel({ shape: [3] })), square)).rejects.toMatchObject({
      code: "WRONG_TASK",
    });
  });
});

describe("embed", () => {
  it("returns the numbers, of the length 1 if asked for", async () => {
    const model = await open(passingModel({ shape: [2] }));
    expect(await embed(model, [3, 4])).toEqual(Float32Array.of(3, 4));
    expect(await embed(model, [3, 4], { normalize: true })).toEqual(Float32Array.of(0.6, 0.8));
    expect(await embed(model, [0, 0], { normalize: true })).toEqual(Float32Array.of(0, 0));
  });

  it("compares", () => {
    expect(cosineSimilarity([1, 2], [2, 4])).toBeCloseTo(1, 12);
    expect(cosineSimilarity([1, 0], [0, 3])).toBe(0);
    expect(cosineSimilarity([1, 0], [-2, 0])).toBe(-1);
    expect(cosineSimilarity([0, 0], [1, 1])).toBe(0);
    expect(() => cosineSimilarity([1], [1, 2])).toThrow(expect.objectContaining({ code: "WRONG_SIZE" }));
  });
});

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

/** A WAV file. */
function wav(
  format: number,
  bits: number,
  channels: number,
  rate: number,
  data: Uint8Array,
  before: readonly number[] = [],
): Uint8Array {
  const head = new DataView(new ArrayBuffer(16));
  head.setUint16(0, format, true);
  head.setUint16(2, channels, true);
  head.setUint32(4, rate, true);
  head.setUint16(12, (channels * bits) / 8, true);
  head.setUint16(14, bits, true);
  const text = (letters: string) => [...letters].map((letter) => letter.charCodeAt(0));
  const size = [data.length & 255, data.length >> 8, 0, 0];
  const chunks = [
    ...text("fmt "),
    16,
    0,
    0,
    0,
    ...new Uint8Array(head.buffer),
    ...before,
    ...text("data"),
    ...size,
    ...data,
  ];
  return Uint8Array.from([...text("RIFF"), 0, 0, 0, 0, ...text("WAVE"), ...chunks]);
}

describe("sound", () => {
  it.each([
    [1, 8, Uint8Array.of(128, 192, 0), [0, 0.5, -1]],
    [1, 16, new Uint8Array(Int16Array.of(0, 16384, -32768).buffer), [0, 0.5, -1]],
    [1, 24, Uint8Array.of(0, 0, 0, 0, 0, 0x40, 0, 0, 0x80), [0, 0.5, -1]],
    [1, 32, new Uint8Array(Int32Array.of(0, 2 ** 30, -(2 ** 31)).buffer), [0, 0.5, -1]],
    [3, 32, new Uint8Array(Float32Array.of(0, 0.5, -1).buffer), [0, 0.5, -1]],
    [3, 64, new Uint8Array(Float64Array.of(0, 0.5, -1).buffer), [0, 0.5, -1]],
  ])("reads format %i with %i bits", async (format, bits, data, samples) => {
    expect(await sound(wav(format, bits, 1, 8000, data))).toEqual({ rate: 8000, samples: Float32Array.from(samples) });
  });

  it("averages channels, and passes over other parts", async () => {
    const stereo = new Uint8Array(Float32Array.of(1, 0, 0.5, -0.5).buffer);
    const list = [76, 73, 83, 84, 3, 0, 0, 0, 1, 2, 3, 0];
    expect((await sound(wav(3, 32, 2, 8000, stereo, list))).samples).toEqual(Float32Array.of(0.5, 0));
  });

  it("refuses what it cannot read, and gives an answer wherever a file is cut", async () => {
    const file = wav(1, 16, 1, 8000, new Uint8Array(8));
    const refused = async (bytes: Uint8Array) =>
      sound(bytes).then(
        () => "read",
        ({ code, message }: { code: string; message: string }) => `${code} ${message}`,
      );
    expect(await refused(new Uint8Array(9))).toBe(
      "NOT_A_SOUND the sound is not a WAV file that can be read: it does not begin with RIFF and WAVE",
    );
    expect(await refused(wav(2, 4, 1, 8000, new Uint8Array(8)))).toContain("its format 2 with 4 bits is not supported");
    expect(await refused(wav(1, 16, 0, 8000, new Uint8Array(8)))).toContain("it has 0 channels");
    for (let length = 0; length < file.length; length++) {
      expect(await refused(file.subarray(0, length))).toMatch(/^(NOT_A_SOUND|read)/);
    }
  });

  it("is brought to another rate", () => {
    const samples = Float32Array.of(0, 1, 0, 1);
    expect(resample({ rate: 1, samples }, 2).samples).toEqual(Float32Array.of(0, 0.5, 1, 0.5, 0, 0.5, 1, 1));
    // A tone that is too high for the new rate is gone, and does not come back as a low one.
    expect(resample({ rate: 2, samples }, 1).samples).toEqual(Float32Array.of(0.5, 0.5));
    expect(resample({ rate: 3, samples }, 3).samples).toBe(samples);
    expect(() => resample({ rate: 3, samples }, 0)).toThrow(expect.objectContaining({ code: "BAD_OPTION" }));
  });
});

describe("classifyAudio", () => {
  const rate = 16_000;
  let model: Promise<Model> | undefined;
  const passing = () => {
    model ??= open(passingModel({ shape: [3] }));
    return model;
  };

  it("cuts a sound into parts, and averages their scores", async () => {
    const samples = Float32Array.of(1, 0, 0, 0, 1, 0, 0.5);
    const { classes, parts } = await classifyAudio(
      await passing(),
      { rate, samples },
      { top: 1, labels: ["a", "b", "c"] },
    );
    expect(parts).toEqual([
      { start: 0, classes: [{ index: 0, label: "a", score: 1 }] },
      { start: 3 / rate, classes: [{ index: 1, label: "b", score: 1 }] },
      { start: 6 / rate, classes: [{ index: 0, label: "a", score: 0.5 }] },
    ]);
    expect(classes).toEqual([{ index: 0, label: "a", score: 0.5 }]);
    const overlapping = await classifyAudio(await passing(), { rate, samples }, { step: 2 });
    expect(overlapping.parts.map(({ start }) => start * rate)).toEqual([0, 2, 4]);
  });

  it("takes WAV files of any rate, and ends short ones with silence", async () => {
    const file = wav(3, 32, 1, 8000, new Uint8Array(Float32Array.of(0.5).buffer));
    const { parts } = await classifyAudio(await passing(), file);
    expect(parts[0]?.classes.map(({ score }) => score)).toEqual([0.5, 0.5, 0]);
  });

  it("refuses no samples, and models for something else", async () => {
    await expect(classifyAudio(await passing(), { rate, samples: new Float32Array(0) })).rejects.toMatchObject({
      code: "NOT_A_SOUND",
    });
    const picture = await open(fixedModel([["scores", [1, 2], [0, 1]]]));
    await expect(classifyAudio(picture, { rate, samples: new Float32Array(5) })).rejects.toMatchObject({
      code: "WRONG_TASK",
    });
    await expect(
      classifyAudio(await passing(), { rate, samples: new Float32Array(5) }, { step: 0 }),
    ).rejects.toMatchObject({ code: "BAD_OPTION" });
  });
});
