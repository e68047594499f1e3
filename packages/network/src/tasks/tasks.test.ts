import { describe, expect, it } from "vitest";
import { load } from "../load.ts";
import type { Model } from "../model.ts";
import { passingModel } from "../models.test-helper.ts";
import { top } from "../scores.ts";
import { classify } from "./classify.ts";
import { classifyAudio } from "./classify-audio.ts";
import { type DetectOptions, detect } from "./detect.ts";
import { cosineSimilarity, embed } from "./embed.ts";
import { fixedModel, square } from "./fixed.test-helper.ts";
import { segment } from "./segment.ts";
import { resample, sound } from "./sound.ts";

const open = (bytes: Uint8Array) => load(bytes, { engines: [] });

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

  it("refuses a detector, whose scores are not of classes", async () => {
    const model = await open(
      fixedModel([
        ["boxes", [1, 2, 4], Array(8).fill(0.5)],
        ["classes", [1, 2], [1, 0]],
        ["scores", [1, 2], [0.6, 0.9]],
      ]),
    );
    await expect(classify(model, square)).rejects.toMatchObject({
      code: "WRONG_TASK",
      message:
        'classify: expected scores of classes, got those of things, "scores" (float32 [1, 2]), with the boxes "boxes" (float32 [1, 2, 4]); use detect, or name an output with `output`',
    });
    expect(await classify(model, square, { output: "scores", top: 1 })).toMatchObject([{ index: 1 }]);
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
    const swapped = await open(
      fixedModel([
        ["a", boxes[1], boxes[2]],
        ["b", scores[1], scores[2]],
        ["c", classes[1], classes[2]],
      ]),
    );
    expect(await detect(swapped, square, { labels, outputs: { classes: "c", scores: "b" } })).toEqual(found);
    const sideways = await detect(model, square, { order: ["left", "top", "right", "bottom"] });
    expect(sideways[1]?.box).toEqual({ left: 0, top: 4, right: 8, bottom: 8 });
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 0.5, -1])(
    "refuses the class %d of a thing that counts",
    async (index) => {
      const model = await open(fixedModel([boxes, ["classes", [1, 2], [index, 0]], scores]));
      expect(await detect(model, square, { threshold: 0.7 })).toHaveLength(1);
      await expect(detect(model, square)).rejects.toMatchObject({
        code: "WRONG_TASK",
        message: `detect: expected numbers of classes in the output "classes" (float32 [1, 2]), got ${index} for thing 0`,
      });
    },
  );

  it.each([[["left", "top"]], [["left", "top", "right", "right"]], ["tlbr"]])("refuses the order %j", async (order) => {
    const model = await open(fixedModel([boxes, classes, scores]));
    // A caller of JavaScript can give anything.
    await expect(detect(model, square, { order: order as DetectOptions["order"] })).rejects.toMatchObject({
      code: "BAD_OPTION",
      message: expect.stringContaining("detect: order: expected a list of top, left, bottom and right, got "),
    });
  });

  it.each([Number.NaN, "0.5", null])("refuses the threshold %j", async (threshold) => {
    const model = await open(fixedModel([boxes, classes, scores]));
    // A caller of JavaScript can give anything.
    await expect(detect(model, square, { threshold: threshold as number })).rejects.toMatchObject({
      code: "BAD_OPTION",
      message: expect.stringContaining("detect: threshold: expected a number, got"),
    });
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
  it("returns the class of each pixel, from classes, from scores or from shares of one class", async () => {
    const shares = await open(fixedModel([["mask", [1, 2, 2, 1], [0.49, 0.5, 1, 0.9]]]));
    const classes = await open(fixedModel([["mask", [1, 2, 2], [0, 1, 1, 1]]]));
    const scores = await open(fixedModel([["map", [1, 2, 2, 2], [5, 1, 0, 1, 0, 1, 0, 1]]]));
    for (const model of [classes, scores, shares]) {
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
    const refuse = async (bytes: Uint8Array) =>
      sound(bytes).then(
        () => "read",
        ({ code, message }: { code: string; message: string }) => `${code} ${message}`,
      );
    expect(await refuse(new Uint8Array(9))).toBe(
      "NOT_A_SOUND the sound is not a WAV file that can be read: it does not begin with RIFF and WAVE",
    );
    await expect(sound(import.meta.filename)).rejects.toThrow(`the sound ${import.meta.filename} is not a WAV file`);
    expect(await refuse(wav(2, 4, 1, 8000, new Uint8Array(8)))).toContain("its format 2 with 4 bits is not supported");
    expect(await refuse(wav(1, 16, 0, 8000, new Uint8Array(8)))).toContain("it has 0 channels");
    for (let length = 0; length < file.length; length++) {
      expect(await refuse(file.subarray(0, length))).toMatch(/^(NOT_A_SOUND|read)/);
    }
  });

  it("has a rate of 1 kHz to 768 kHz, and at most `maxSamples`", async () => {
    const at = (rate: number) => sound(wav(1, 8, 1, rate, Uint8Array.of(128, 128)));
    for (const rate of [1000, 768_000]) expect(await at(rate)).toMatchObject({ rate });
    for (const rate of [0, 1, 999, 768_001, 2 ** 32 - 1])
      await expect(at(rate)).rejects.toThrow(`its rate is ${rate} Hz; 1000 to 768000 are supported`);
    const stereo = wav(1, 8, 2, 8000, new Uint8Array(6));
    expect((await sound(stereo, { maxSamples: 3 })).samples).toHaveLength(3);
    await expect(sound(stereo, { maxSamples: 2 })).rejects.toThrow("it has 3 samples; 2 are the most");
    await expect(sound(stereo, { maxSamples: 0 })).rejects.toMatchObject({ code: "BAD_OPTION" });
  });

  it("becomes at most 100 million samples at another rate", () => {
    const samples = new Float32Array(100);
    expect(() => resample({ rate: 1, samples }, 1_000_001)).toThrow(
      expect.objectContaining({ code: "WRONG_SIZE", message: expect.stringContaining("100000000 are the most") }),
    );
  });

  it("is the same whatever pauses are made, and ends with a signal in one", async () => {
    const samples = Float32Array.from({ length: 2 ** 20 + 3 }, (_, place) => place % 7);
    for (const rate of [4000, 16_000]) {
      const { samples: result } = resample({ rate: 8000, samples }, rate);
      const tail = resample({ rate: 8000, samples: samples.subarray(2 ** 20 - 14) }, rate).samples;
      expect(result.subarray(result.length - 5)).toEqual(tail.subarray(tail.length - 5));
    }
    const reason = new Error("enough");
    const controller = new AbortController();
    const data = new Uint8Array(2 ** 20 + 1);
    const file = wav(1, 8, 1, 8000, new Uint8Array(0));
    const long = new Uint8Array(file.length + data.length);
    long.set(file);
    // Its size is not known, as in a pipe.
    new DataView(long.buffer).setUint32(file.length - 4, 2 ** 32 - 1, true);
    const reading = sound(long, { signal: controller.signal });
    controller.abort(reason);
    await expect(reading).rejects.toBe(reason);
    expect((await sound(long)).samples).toHaveLength(2 ** 20 + 1);
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
