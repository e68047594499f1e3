import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { requantise as requantising } from "./_requantise.ts";
import { declareOutput, f32, fill, q8, q8s } from "./_run.test-helper.ts";

const requantise = (...args: Parameters<typeof requantising>) => fill(requantising(...args));

const target = (scale: number, zeroPoint: number) => declareOutput("TENSOR_QUANT8_ASYMM", { scale, zeroPoint });

describe("requantise", () => {
  it("returns the tensor's own elements if nothing changes", () => {
    const same = q8([2], 0.5, 3, [1, 2]);
    expect(requantise(same, target(0.5, 3))).toBe(same.data);
    const floats = f32([2], [1, 2]);
    expect(requantise(floats, declareOutput("TENSOR_FLOAT32"))).toBe(floats.data);
  });

  it("keeps real values, rounds halves away from zero and clamps", () => {
    const tensor = q8([5], 0.5, 10, [10, 11, 12, 7, 255]);
    expect(Array.from(requantise(tensor, target(1, 100)))).toEqual([100, 101, 101, 98, 223]);
    expect(Array.from(requantise(tensor, target(0.5, 12)))).toEqual([12, 13, 14, 9, 255]);
    expect(Array.from(requantise(tensor, target(0.25, 0)))).toEqual([0, 2, 4, 0, 255]);
  });

  it("does the same for signed elements", () => {
    const tensor = q8s([3], 0.5, -118, [-118, -117, 127]);
    const output = declareOutput("TENSOR_QUANT8_ASYMM_SIGNED", { scale: 1, zeroPoint: -28 });
    expect(Array.from(requantise(tensor, output))).toEqual([-28, -27, 95]);
  });

  it("is off by at most half a step, within the type's range", () => {
    const scale = fc.integer({ min: 1, max: 400 }).map((hundredths) => hundredths / 100);
    const byte = fc.integer({ min: 0, max: 255 });
    fc.assert(
      fc.property(scale, byte, scale, byte, byte, (from, fromZero, to, toZero, value) => {
        const tensor = q8([1], from, fromZero, [value]);
        const output = target(to, toZero);
        const [found] = requantise(tensor, output);
        const real = (value - fromZero) * tensor.scale;
        const clamped = Math.min(Math.max(real, -toZero * output.scale), (255 - toZero) * output.scale);
        expect(Math.abs((found - toZero) * output.scale - clamped)).toBeLessThanOrEqual(output.scale * 0.500001);
      }),
    );
  });
});
