import { describe, expect, it } from "vitest";
import {
  boolScalar,
  declareOutput,
  expectClose,
  f16,
  f32,
  q8,
  q16Asymm,
  runOperation,
  tensorOf,
  valuesOf,
  versionOf,
} from "./_run.test-helper.ts";
import { expectOneSignature } from "./_signature.test-helper.ts";
import { heatmapMaxKeypoint } from "./heatmap-max-keypoint.ts";

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);
const boxes = (...corners: number[]) => q16Asymm([corners.length / 4, 4], 0.125, 0, corners);

const float = declareOutput("TENSOR_FLOAT32");

describe("HEATMAP_MAX_KEYPOINT", () => {
  const box = f32([1, 4], [0, 0, 30, 60]);
  const run = (size: number, values: number[], regions = box) =>
    runOperation(heatmapMaxKeypoint, [f32([1, size, size, 1], values), regions, boolScalar(false)], {
      outputs: [float, float],
    }).map(valuesOf);

  it.each<[string, number, number[], number, number, number]>([
    ["between equal neighbours stays", 3, [0, 1, 0, 1, 2, 1, 0, 1, 0], 2, 1.5, 1.5],
    ["moves towards the greater neighbour", 3, [0, 1, 0, 0, 4, 2, 0, 1, 0], 4 + 1 / 12, 1.5 + 1 / 6, 1.5],
    ["in a corner has mirrored neighbours", 2, [4, 2, 1, 0], 4, 0.5, 0.5],
    ["among equals is the first", 2, [3, 3, 3, 3], 3, 0.5, 0.5],
    // h = [[-1, 0.9], [0.9, -1]] and g = (0.5, 0.5) lead to 5, which is too far.
    ["moves by 1.5 at most", 3, [3.6, 3, 2, 3, 4, 4, 2, 4, 4], 5.275, 3, 3],
  ])("a maximum %s", (_, size, values, score, x, y) => {
    const [scores, [keyX, keyY]] = run(size, values);
    expectClose(scores, [score]);
    expectClose([keyX, keyY], [(x / size) * 30, (y / size) * 60], 1e-4);
  });

  it("takes boxes, keypoints and either layout", () => {
    const two = f32([2, 4], [0, 0, 20, 20, 100, 200, 102, 202]);
    const values = [9, 0, 0, 0, 0, 8, 0, 0, 0, 0, 7, 0, 0, 0, 0, 6];
    const outputs = [float, float];
    const first = runOperation(heatmapMaxKeypoint, [f32([2, 2, 2, 2], values), two, boolScalar(true)], { outputs });
    const lastValues = [0, 1].flatMap((b) => upTo(4).flatMap((at) => [values[b * 8 + at], values[b * 8 + 4 + at]]));
    const last = runOperation(heatmapMaxKeypoint, [f32([2, 2, 2, 2], lastValues), two, boolScalar(false)], { outputs });
    expect(first.map(({ dimensions }) => dimensions)).toEqual([
      [2, 2],
      [2, 2, 2],
    ]);
    expectClose(valuesOf(first[0]), [9, 8, 7, 6]);
    expectClose(valuesOf(first[1]), [5, 5, 15, 5, 100.5, 201.5, 101.5, 201.5], 1e-4);
    expect(last.map(valuesOf)).toEqual(first.map(valuesOf));
  });

  it.each([
    ["TENSOR_QUANT8_ASYMM", 10, "1.2"],
    ["TENSOR_QUANT8_ASYMM_SIGNED", -10, "1.3"],
  ] as const)("of %s", (type, zeroPoint, version) => {
    const values = [0, 1, 0, 0, 4, 2, 0, 1, 0].map((value) => zeroPoint + 2 * value);
    const inputs = [
      tensorOf(type, [1, 3, 3, 1], values, { scale: 0.5, zeroPoint }),
      boxes(0, 0, 240, 480),
      boolScalar(false),
    ];
    const outputs = [
      declareOutput(type, { scale: 0.25, zeroPoint }),
      declareOutput("TENSOR_QUANT16_ASYMM", { scale: 0.125 }),
    ];
    const [scores, keypoints] = runOperation(heatmapMaxKeypoint, inputs, { outputs });
    expect(valuesOf(scores)).toEqual([zeroPoint + 16]);
    // x = (1.5 + 1/6) / 3 · 30 = 16.67, in eighths 133.3; y = 30
    expect(valuesOf(keypoints)).toEqual([133, 240]);
    expect(versionOf(heatmapMaxKeypoint, inputs, { outputs })).toBe(version);
  });

  it("refuses heatmaps other than squares of 2 or more, other boxes, and other types", () => {
    const on =
      (shape: number[], regions = box) =>
      () =>
        runOperation(heatmapMaxKeypoint, [f32(shape), regions, boolScalar(false)], { outputs: [float, float] });
    expect(on([1, 2, 2, 1])).not.toThrow();
    expect(on([1, 1, 1, 1])).toThrow("the heatmaps: expected squares of 2x2 or more, got 1x1");
    expect(on([1, 2, 3, 1])).toThrow("heatmaps: expected squares of 2x2 or more, got 2x3");
    expect(on([2, 2, 2, 1])).toThrow("the shape of the boxes");
    expect(on([1, 2, 2, 1], f32([1, 4], [1, 0, 0, 0]))).toThrow("box 0 ends before it begins");
    expect(on([0, 2, 2, 1], f32([0, 4]))).not.toThrow();
    const list = [f32([1, 2, 2, 1]), box, boolScalar(false)];
    expectOneSignature(heatmapMaxKeypoint, list, [f32([1]), f32([1])]);
    expect(versionOf(heatmapMaxKeypoint, list, { outputs: [float, float] })).toBe("1.2");
    const half = declareOutput("TENSOR_FLOAT16");
    expect(versionOf(heatmapMaxKeypoint, [f16([1]), f16([1]), list[2]], { outputs: [half, half] })).toBe("1.2");
    const quantised = [q8([1, 2, 2, 1], 1, 0), q16Asymm([1, 4], 0.5, 0), boolScalar(false)];
    const outputs = [
      declareOutput("TENSOR_QUANT8_ASYMM", { scale: 1 }),
      declareOutput("TENSOR_QUANT16_ASYMM", { scale: 0.125 }),
    ];
    expect(() => runOperation(heatmapMaxKeypoint, quantised, { outputs })).toThrow(
      "the boxes: expected scale 0.125 and zero point 0, got 0.5 and 0",
    );
  });
});
