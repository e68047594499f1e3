import { describe, expect, it } from "vitest";
import {
  declareOutput,
  f16,
  f32,
  i32,
  mismatchOf,
  q8,
  q8s,
  runForOne,
  valuesOf,
  versionOf,
} from "./_run.test-helper.ts";
import { hardSwish } from "./hard-swish.ts";

const real = (x: number) => (x * Math.min(6, Math.max(0, x + 3))) / 6;
const all = Array.from({ length: 256 }, (_, index) => index);

describe("HARD_SWISH", () => {
  it("of floats: 0 up to -3, x from 3 on, a parabola between", () => {
    const values = [-100, -3.5, -3, -2.5, -1.5, -0.5, 0, 0.75, 1, 2.5, 3, 3.5, 100];
    const result = valuesOf(runForOne(hardSwish, [f32([values.length], values)]));
    expect(result.map((value) => value + 0)).toEqual(values.map((value) => Math.fround(real(value)) + 0));
    expect(valuesOf(runForOne(hardSwish, [f16([1], [1])]))).toEqual([0.66650390625]);
    expect(valuesOf(runForOne(hardSwish, [f32([1], [Number.NaN])]))).toEqual([Number.NaN]);
  });

  it.each([
    [0.01, 100, 0.01, 100],
    [0.0078125, 128, 0.03, 20],
    [0.05, 128, 0.03, 20],
    [0.1, 60, 0.1, 10],
    [0.5, 128, 0.5, 128],
    [1, 0, 2, 3],
    [4, 128, 4, 128],
    [20, 128, 0.2, 128],
  ])("of quantised elements with scale %f is near the real function, signed ones alike", (scale, zero, to, toZero) => {
    const output = declareOutput("TENSOR_QUANT8_ASYMM", { scale: to, zeroPoint: toZero });
    const values = valuesOf(runForOne(hardSwish, [q8([256], scale, zero, all)], output));
    // 16-bit arithmetic on the way: a unit, and 2^-9 of the input's range.
    const tolerance = 1 + (scale / to) * 0.5;
    values.forEach((value, index) => {
      const units = Math.min(255, Math.max(0, real((index - zero) * scale) / to + toZero));
      expect(Math.abs(value - units)).toBeLessThanOrEqual(tolerance);
    });
    const signed = runForOne(
      hardSwish,
      [
        q8s(
          [256],
          scale,
          zero - 128,
          all.map((value) => value - 128),
        ),
      ],
      declareOutput("TENSOR_QUANT8_ASYMM_SIGNED", { scale: to, zeroPoint: toZero - 128 }),
    );
    expect(valuesOf(signed)).toEqual(values.map((value) => value - 128));
  });

  it("computes the HAL reference's elements bit by bit", () => {
    const output = declareOutput("TENSOR_QUANT8_ASYMM", { scale: 0.00353825814, zeroPoint: 170 });
    const values = valuesOf(runForOne(hardSwish, [q8([256], 0.0140364747, 65, all)], output));
    expect(values.filter((_, index) => index % 16 === 0)).toEqual([
      80, 95, 115, 139, 168, 202, 240, 255, 255, 255, 255, 255, 255, 255, 255, 255,
    ]);
  });

  it("keeps to 0 if the output's scale is far greater than the input's", () => {
    const output = declareOutput("TENSOR_QUANT8_ASYMM", { scale: 1e6, zeroPoint: 9 });
    expect(valuesOf(runForOne(hardSwish, [q8([3], 0.001, 128, [0, 128, 255])], output))).toEqual([9, 9, 9]);
  });

  it("refuses an output scale of 1/128 of the input's", () => {
    const runWith = (scale: number) =>
      runForOne(hardSwish, [q8([2], 1, 0, [0, 5])], declareOutput("TENSOR_QUANT8_ASYMM", { scale }));
    expect(() => runWith(1 / 128)).toThrow(
      "the output's scale: expected more than 1/128 of the input's, 1, got 0.0078125",
    );
    expect(valuesOf(runWith(1 / 127))).toEqual([0, 255]);
  });

  it("keeps the shape, at any rank and of no elements", () => {
    expect(runForOne(hardSwish, [f32([1, 1, 1, 1, 2])]).dimensions).toEqual([1, 1, 1, 1, 2]);
    expect(runForOne(hardSwish, [q8([0, 2], 1, 0)]).dimensions).toEqual([0, 2]);
  });

  it("takes float and 8-bit types, since 1.3", () => {
    for (const operand of [f32([1]), f16([1]), q8([1], 1, 0), q8s([1], 1, 0)]) {
      expect(versionOf(hardSwish, [operand])).toBe("1.3");
    }
    expect(mismatchOf(hardSwish, [i32([1])])).toContain("input 0 (input): expected TENSOR_FLOAT16, got TENSOR_INT32");
  });
});
