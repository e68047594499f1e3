import fc from "fast-check";
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
import { prelu } from "./prelu.ts";

describe("PRELU", () => {
  it("multiplies negative elements by alpha", () => {
    const result = runForOne(prelu, [f32([2, 3], [-2, 0, 2, -0.5, 4, -8]), f32([3], [0.5, 9, 9])]);
    expect(valuesOf(result)).toEqual([-1, 0, 2, -0.25, 4, -72]);
    expect(valuesOf(runForOne(prelu, [f32([1], [Number.NaN]), f32([1], [1])]))).toEqual([Number.NaN]);
  });

  it("broadcasts both ways", () => {
    const result = runForOne(prelu, [f32([1], [-1]), f32([2, 2], [1, 2, 3, 4])]);
    expect(result.dimensions).toEqual([2, 2]);
    expect(valuesOf(result)).toEqual([-1, -2, -3, -4]);
    expect(() => runForOne(prelu, [f32([2]), f32([3])])).toThrow("shapes 2 and 3 do not broadcast");
    expect(runForOne(prelu, [f32([0, 2]), f32([2])]).dimensions).toEqual([0, 2]);
  });

  it("rounds float16 results to float16", () => {
    expect(valuesOf(runForOne(prelu, [f16([1], [-0.1]), f16([1], [0.1])]))).toEqual([-0.0099945068359375]);
  });

  it("of quantised elements uses all three scales and zero points", () => {
    const input = q8([4], 0.5, 100, [90, 99, 100, 120]); // -5, -0.5, 0, 10
    const alpha = q8([1], 0.25, 40, [48]); // 2
    const output = declareOutput("TENSOR_QUANT8_ASYMM", { scale: 1, zeroPoint: 20 });
    expect(valuesOf(runForOne(prelu, [input, alpha], output))).toEqual([10, 19, 20, 30]);
  });

  it("of quantised elements is within one unit, unsigned and signed alike", () => {
    const quantisation = fc.record({
      scale: fc.double({ min: 0.01, max: 2, noNaN: true }),
      zeroPoint: fc.integer({ min: 0, max: 255 }),
    });
    const elements = fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 8, maxLength: 8 });
    const lower = (values: readonly number[]) => values.map((value) => value - 128);
    fc.assert(
      fc.property(quantisation, quantisation, quantisation, elements, elements, (p, q, r, x, y) => {
        const [input, alpha] = [q8([8], p.scale, p.zeroPoint, x), q8([8], q.scale, q.zeroPoint, y)];
        const unsigned = valuesOf(runForOne(prelu, [input, alpha], declareOutput("TENSOR_QUANT8_ASYMM", r)));
        unsigned.forEach((value, index) => {
          const real = (x[index] - p.zeroPoint) * input.scale;
          const factor = real < 0 ? (y[index] - q.zeroPoint) * alpha.scale : 1;
          const units = Math.min(255, Math.max(0, (real * factor) / Math.fround(r.scale) + r.zeroPoint));
          expect(Math.abs(value - units)).toBeLessThanOrEqual(1);
        });
        const signed = runForOne(
          prelu,
          [q8s([8], p.scale, p.zeroPoint - 128, lower(x)), q8s([8], q.scale, q.zeroPoint - 128, lower(y))],
          declareOutput("TENSOR_QUANT8_ASYMM_SIGNED", { ...r, zeroPoint: r.zeroPoint - 128 }),
        );
        expect(valuesOf(signed)).toEqual(lower(unsigned));
      }),
    );
  });

  it("saturates however small the output's scale is", () => {
    const output = declareOutput("TENSOR_QUANT8_ASYMM", { scale: 1e-9, zeroPoint: 7 });
    expect(valuesOf(runForOne(prelu, [q8([3], 2, 5, [0, 5, 6]), q8([1], 2, 0, [255])], output))).toEqual([0, 7, 255]);
  });

  it("takes float and 8-bit types, since 1.2, signed ones since 1.3", () => {
    for (const operand of [f32([1]), f16([1]), q8([1], 1, 0)]) expect(versionOf(prelu, [operand, operand])).toBe("1.2");
    expect(versionOf(prelu, [q8s([1], 1, 0), q8s([1], 1, 0)])).toBe("1.3");
    expect(mismatchOf(prelu, [i32([1]), i32([1])])).toContain(
      "input 0 (input): expected TENSOR_FLOAT16, got TENSOR_INT32",
    );
    expect(mismatchOf(prelu, [f32([1]), f16([1])])).toContain(
      "input 1 (alpha): expected TENSOR_FLOAT32, got TENSOR_FLOAT16",
    );
  });
});
