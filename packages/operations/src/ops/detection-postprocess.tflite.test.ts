import { describe, expect, it } from "vitest";
import { bool, float32, type GivenInput, int32, runOperation } from "./_run.tflite.test-helper.ts";

const float = (dimensions: number[], values: number[]): GivenInput => ({
  type: "TENSOR_FLOAT32",
  dimensions,
  data: Float32Array.from(values),
});
const outputs = [0, 1, 2, 3].map(() => ({ type: "TENSOR_FLOAT32" as const }));

interface Settings {
  readonly maxDetections?: number;
  readonly maxClasses?: number;
  readonly perClass?: number;
  readonly regular?: boolean;
  readonly scoreThreshold?: number;
  readonly iou?: number;
  readonly numClasses?: number;
  readonly scale?: number;
}

const options = (settings: Settings) => {
  const { maxDetections = 3, maxClasses = 1, perClass = 100, regular = false } = settings;
  const { scoreThreshold = 0.25, iou = 0.5, numClasses = 2, scale = 10 } = settings;
  return [
    ...[int32(maxDetections), int32(maxClasses), int32(perClass), bool(regular)],
    ...[float32(scoreThreshold), float32(iou), int32(numClasses)],
    ...[float32(scale), float32(10), float32(5), float32(5)],
  ];
};

// Boxes 0 and 1 overlap by 0.8, 2 lies apart, 3 is the same as 2.
const anchors = float([4, 4], [0.5, 0.5, 1, 1, 0.5, 0.5, 1, 0.8, 10.5, 10.5, 1, 1, 10.5, 10.5, 1, 1]);
const encodings = float([1, 4, 4], new Array(16).fill(0));
// With a background class first.
const scores = float([1, 4, 3], [0, 0.9, 0.3, 0, 0.8, 0.95, 0, 0.25, 0.1, 1, 0.2, 0.24]);

describe("DETECTION_POSTPROCESS", () => {
  const run = (settings: Settings, predictions = scores, boxes = encodings) =>
    runOperation("DETECTION_POSTPROCESS", [boxes, predictions, anchors, ...options(settings)], outputs);

  it("suppresses by the best class of each box, and keeps scores equal to the threshold", async () => {
    const [boxes, classes, best, count] = await run({});
    expect([boxes, classes, best, count].map(({ dimensions }) => dimensions)).toEqual([[1, 3, 4], [1, 3], [1, 3], [1]]);
    expect([...count.data]).toEqual([2]);
    expect([...classes.data]).toEqual([1, 0, 0]);
    expect(best.data).toEqual(Float32Array.of(0.95, 0.25, 0));
    expect(boxes.data).toEqual(Float32Array.from([0, 0.5 - Math.fround(0.4), 1, 0.9, 10, 10, 11, 11, 0, 0, 0, 0]));
  });

  it("keeps boxes that overlap just as much as the threshold", async () => {
    // Two squares that share half: 1 / 3 of their union, which float32 does not hold; exactly half: one inside the other.
    const inner = float([4, 4], [0.5, 0.5, 1, 1, 0.5, 0.25, 1, 0.5, 10.5, 10.5, 1, 1, 10.5, 10.5, 1, 1]);
    const at = (iou: number) =>
      runOperation("DETECTION_POSTPROCESS", [encodings, scores, inner, ...options({ iou })], outputs);
    expect((await at(0.5))[2].data).toEqual(Float32Array.of(0.95, 0.9, 0.25));
    expect((await at(0.49))[2].data).toEqual(Float32Array.of(0.95, 0.25, 0));
  });

  it("lists several classes of a box, and counts boxes", async () => {
    const [, classes, best, count] = await run({ maxDetections: 2, maxClasses: 2 });
    expect([...count.data]).toEqual([2]);
    expect([...classes.data]).toEqual([1, 0, 0, 1]);
    expect(best.data).toEqual(Float32Array.of(0.95, 0.8, 0.25, 0.1));
  });

  it("leaves the places of classes that do not exist", async () => {
    const [, classes, best] = await run({ maxDetections: 2, maxClasses: 3 });
    expect([...classes.data]).toEqual([1, 0, 0, 0, 1, 0]);
    expect(best.data).toEqual(Float32Array.of(0.95, 0.8, 0, 0.25, 0.1, 0));
  });

  it("suppresses in each class, then takes the best of all", async () => {
    const [, classes, best, count] = await run({ regular: true });
    expect([...count.data]).toEqual([3]);
    expect([...classes.data]).toEqual([1, 0, 0]);
    expect(best.data).toEqual(Float32Array.of(0.95, 0.9, 0.25));
    const [, , few] = await run({ regular: true, perClass: 1 });
    expect(few.data).toEqual(Float32Array.of(0.95, 0.9, 0));
    const [, , one] = await run({ regular: true, maxDetections: 1 });
    expect(one.data).toEqual(Float32Array.of(0.95));
  });

  it("has classes without a background, and decodes quantised boxes", async () => {
    const quantise = (dimensions: number[], values: number[], scale: number, zeroPoint: number): GivenInput => ({
      type: "TENSOR_QUANT8_ASYMM",
      dimensions,
      data: Uint8Array.from(values),
      scale,
      zeroPoint,
    });
    const inputs = [
      quantise([1, 1, 4], [20, 0, 10, 15], 1, 10),
      quantise([1, 1, 2], [10, 200], 1 / 256, 0),
      quantise([1, 4], [2, 3, 2, 1], 1, 0),
    ];
    const [boxes, classes, best, count] = await runOperation(
      "DETECTION_POSTPROCESS",
      [...inputs, ...options({ maxDetections: 1 })],
      outputs,
    );
    expect([...count.data, ...classes.data, ...best.data]).toEqual([1, 1, 200 / 256]);
    // y 10 / 10 * 2 + 2, x -10 / 10 * 1 + 3, height 2, width e.
    const half = Math.fround(Math.E / 2);
    expect(boxes.data).toEqual(Float32Array.of(3, 2 - half, 5, 2 + half));
  });

  it("refuses each setting out of its bounds, other shapes, and boxes without area", async () => {
    await expect(run({ numClasses: 1 })).rejects.toThrow("numClasses is 1 where the predictions have 3");
    await expect(run({ numClasses: 4 })).rejects.toThrow("numClasses is 4 where the predictions have 3");
    await expect(run({ maxDetections: 0 })).rejects.toThrow("maxDetections is 0, less than 1");
    await expect(run({ maxClasses: 0 })).rejects.toThrow("maxClassesPerDetection is 0, less than 1");
    await expect(run({ perClass: 0 })).rejects.toThrow("detectionsPerClass is 0, less than 1");
    await expect(run({ iou: 0 })).rejects.toThrow("nmsIouThreshold: expected a number above 0 and up to 1, got 0");
    await expect(run({ iou: 1.5 })).rejects.toThrow("nmsIouThreshold: expected a number above 0 and up to 1, got 1.5");
    await expect(run({ scale: 0 })).rejects.toThrow("yScale: expected a number > 0, got 0");
    await expect(run({}, float([1, 2, 3], [0, 0, 0, 0, 0, 0]))).rejects.toThrow("the shape of the class predictions");
    await expect(run({}, scores, float([1, 4, 3], new Array(12).fill(0)))).rejects.toThrow(
      "a box encoding: expected 4 or more numbers, got 3",
    );
    await expect(run({}, scores, float([2, 4, 4], new Array(32).fill(0)))).rejects.toThrow("expected 1 batch, got 2");
    const flat = float([1, 4, 4], [0, 0, -1e6, 0, ...new Array(12).fill(0)]);
    await expect(run({}, scores, flat)).rejects.toThrow("box 0 has no area");
  });
});
