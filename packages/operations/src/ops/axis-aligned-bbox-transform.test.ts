import { describe, expect, it } from "vitest";
import {
  declareOutput,
  expectClose,
  f16,
  f32,
  type Given,
  i32,
  inOrder,
  type Named,
  q16Asymm,
  runForOne,
  tensorOf,
  valuesOf,
  versionOf,
} from "./_run.test-helper.ts";
import { expectOneSignature } from "./_signature.test-helper.ts";
import { axisAlignedBboxTransform } from "./axis-aligned-bbox-transform.ts";

const boxes = (...corners: number[]) => q16Asymm([corners.length / 4, 4], 0.125, 0, corners);

describe("AXIS_ALIGNED_BBOX_TRANSFORM", () => {
  const inputs: Named = {
    regions: f32([1, 4], [10, 10, 30, 50]),
    // Centre (20, 30) and size (20, 40) become (30, 20) and (40, 40).
    deltas: f32([1, 4], [0.5, -0.25, Math.LN2, 0]),
    batches: i32([1], [0]),
    imageSizes: f32([1, 2], [100, 100]),
  };
  const run = (changes: Named = {}) => valuesOf(runForOne(axisAlignedBboxTransform, inOrder(inputs, changes)));

  it("moves and scales", () => expectClose(run(), [10, 0, 50, 40]));

  it("cuts off at all four borders", () => {
    expectClose(run({ imageSizes: f32([1, 2], [30, 45]) }), [10, 0, 45, 30]);
    expectClose(run({ deltas: f32([1, 4], [-2, -2, 0, 0]) }), [0, 0, 0, 0]);
    expectClose(run({ deltas: f32([1, 4], [9, 9, 0, 0]) }), [100, 100, 100, 100]);
  });

  it.each([88, 89, 709, 710, 1000])("keeps an extent of 0 with a factor of exp(%d)", (delta) => {
    const regions = f32([1, 4], [10, 10, 30, 10]);
    expectClose(run({ regions, deltas: f32([1, 4], [0, 0, 0, delta]) }), [10, 10, 30, 10]);
    expectClose(run({ regions, deltas: f32([1, 4], [0, 0, delta, 0]) }), [0, 10, 100, 10]);
  });

  it("takes classes, and an image for each region", () => {
    const changes = {
      regions: f32([2, 4], [10, 10, 30, 50, 0, 0, 10, 10]),
      deltas: f32([2, 8], [0, 0, 0, 0, 0.5, -0.25, Math.LN2, 0, 1, 0, 0, 0, 0, 1, 0, 0]),
      batches: i32([2], [1, 0]),
      imageSizes: f32([2, 2], [15, 18, 30, 45]),
    };
    expectClose(run(changes), [10, 10, 30, 30, 10, 0, 45, 30, 10, 0, 18, 10, 0, 10, 10, 15]);
  });

  it.each([
    ["TENSOR_QUANT8_ASYMM", 128, "1.2"],
    ["TENSOR_QUANT8_ASYMM_SIGNED", 0, "1.3"],
  ] as const)("of quantised regions and deltas of %s", (type, zeroPoint, version) => {
    const values = [10, -5, 0, 0].map((value) => zeroPoint + value);
    const list = [
      boxes(80, 80, 240, 400),
      tensorOf(type, [1, 4], values, { scale: 0.05, zeroPoint }),
      i32([1], [0]),
      q16Asymm([1, 2], 0.125, 0, [800, 800]),
    ];
    const output = declareOutput("TENSOR_QUANT16_ASYMM", { scale: 0.125 });
    expect(valuesOf(runForOne(axisAlignedBboxTransform, list, output))).toEqual([160, 0, 320, 320]);
    expect(versionOf(axisAlignedBboxTransform, list, { outputs: [output] })).toBe(version);
    const refuse = (index: number, given: Given) => () =>
      runForOne(axisAlignedBboxTransform, list.with(index, given), output);
    expect(refuse(0, q16Asymm([1, 4], 0.25, 0))).toThrow(
      "the regions: expected scale 0.125 and zero point 0, got 0.25 and 0",
    );
    expect(refuse(3, q16Asymm([1, 2], 0.125, 2))).toThrow(
      "the image sizes: expected scale 0.125 and zero point 0, got 0.125 and 2",
    );
  });

  it("refuses operands that do not fit together", () => {
    for (const value of [-1, 1]) {
      expect(() => run({ batches: i32([1], [value]) })).toThrow(`batch index ${value} is outside [0, 1)`);
    }
    for (const columns of [0, 3, 5]) {
      expect(() => run({ deltas: f32([1, columns]) })).toThrow(`deltas have ${columns} columns, not 4 per class`);
    }
    expect(() => run({ imageSizes: f32([0, 2]) })).toThrow("there are no images");
    expect(() => run({ imageSizes: f32([1, 3]) })).toThrow("the shape of the image sizes");
    expect(() => run({ regions: f32([1, 5]) })).toThrow("the shape of the regions");
    expect(() => run({ deltas: f32([2, 4]) })).toThrow("the shape of the deltas");
    expect(() => run({ batches: i32([2]) })).toThrow("the shape of the batch indexes");
    expect(() => run({ regions: f32([1, 4], [2, 0, 1, 0]) })).toThrow("box 0 ends before it begins");
    expect(() => run({ regions: f32([1, 4], [0, 2, 0, 1]) })).toThrow("box 0 ends before it begins");
    expect(run({ regions: f32([0, 4]), deltas: f32([0, 4]), batches: i32([0]) })).toEqual([]);
  });

  it("takes float32 and float16 alone", () => {
    const list = inOrder(inputs);
    expectOneSignature(axisAlignedBboxTransform, list, [f32([1])]);
    expect(versionOf(axisAlignedBboxTransform, list)).toBe("1.2");
    expect(versionOf(axisAlignedBboxTransform, [f16([1]), f16([1]), i32([1]), f16([1])])).toBe("1.2");
  });
});
