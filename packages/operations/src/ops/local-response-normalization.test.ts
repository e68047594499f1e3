/**
 * LOCAL_RESPONSE_NORMALIZATION: cases worked out by hand, random ones against the formula, and each rule.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fillTensor, numbers, seeds } from "./_image.test-helper.ts";
import {
  f16,
  f16Scalar,
  f32,
  f32Scalar,
  type Given,
  i32Scalar,
  mismatchOf,
  q8,
  runForOne,
  valuesOf,
  versionOf,
} from "./_run.test-helper.ts";
import { localResponseNormalization } from "./local-response-normalization.ts";

const options = (radius: number, bias: number, alpha: number, beta: number) => [
  i32Scalar(radius),
  ...[bias, alpha, beta].map(f32Scalar),
];
const run = (input: Given, ...rest: Given[]) => runForOne(localResponseNormalization, [input, ...rest]);

describe("LOCAL_RESPONSE_NORMALIZATION", () => {
  it("divides by a power of the squares nearby, those beyond the ends left out", () => {
    const input = f32([1, 1, 1, 4], [1, 2, 3, 4]);
    expect(valuesOf(run(input, ...options(0, 0, 1, 0.5)))).toEqual([1, 1, 1, 1]);
    expect(valuesOf(run(input, ...options(1, 1, 2, 1)))).toEqual([1 / 11, 2 / 29, 3 / 59, 4 / 51].map(Math.fround));
    expect(valuesOf(run(input, ...options(9, 0, 1, 1)))).toEqual([1 / 30, 2 / 30, 3 / 30, 4 / 30].map(Math.fround));
  });

  it("takes any radius, and does not walk beyond the ends", () => {
    const input = f32([1, 1, 1, 2], [3, 4]);
    expect(valuesOf(run(input, ...options(2 ** 31 - 1, 0, 1, 0.5)))).toEqual([0.6, 0.8].map(Math.fround));
    expect(() => run(input, ...options(-1, 0, 1, 0.5))).toThrow("the radius is -1, less than 0");
  });

  it("computes in double and rounds to float16 at the end", () => {
    const scalars = [i32Scalar(1), ...[0, 1, 0.5].map(f16Scalar)];
    expect(valuesOf(run(f16([1, 1, 1, 2], [300, 400]), ...scalars))).toEqual([0.60009765625, 0.7998046875]);
  });

  it("does not lose small squares beside large ones", () => {
    const input = f32([1, 1, 1, 3], [1e15, 3, 4]);
    expect(run(input, ...options(1, 0, 1, 0.5)).data[2]).toBe(Math.fround(0.8));
  });

  it("agrees with the formula along every axis", () => {
    const shapes = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(
        shapes,
        fc.integer({ min: -4, max: 3 }),
        fc.integer({ min: 0, max: 4 }),
        seeds,
        (shape, pick, radius, seed) => {
          const axis = pick % shape.length;
          const input = fillTensor("TENSOR_FLOAT32", shape, numbers(seed));
          const output = run(input, ...options(radius, 1, 0.5, 0.75), i32Scalar(axis));
          expect(output.dimensions).toEqual(shape);
          const along = axis < 0 ? axis + shape.length : axis;
          const inner = shape.slice(along + 1).reduce((product, extent) => product * extent, 1);
          const wanted = valuesOf(input).map((value, index) => {
            const position = Math.floor(index / inner) % shape[along];
            let sum = 0;
            for (let near = position - radius; near <= position + radius; near++) {
              if (near >= 0 && near < shape[along]) sum += input.data[index + (near - position) * inner] ** 2;
            }
            return Math.fround(value / (1 + 0.5 * sum) ** 0.75);
          });
          valuesOf(output).forEach((value, index) => void expect(value).toBeCloseTo(wanted[index], 6));
        },
      ),
    );
  });

  it("takes floats of one width", () => {
    const scalars = [i32Scalar(1), ...[0, 1, 0.5].map(f16Scalar)];
    expect(versionOf(localResponseNormalization, [f32([1, 1, 1, 1]), ...options(1, 1, 1, 1)])).toBe("1.0");
    expect(versionOf(localResponseNormalization, [f16([1, 1, 1, 1]), ...scalars])).toBe("1.2");
    expect(mismatchOf(localResponseNormalization, [f32([1, 1, 1, 1]), ...scalars])).toContain(
      "(input): expected TENSOR_FLOAT16, got TENSOR_FLOAT32",
    );
    expect(mismatchOf(localResponseNormalization, [q8([1], 1, 0), ...options(1, 1, 1, 1)])).toContain("(input)");
  });

  it("needs HAL 1.2 for an axis, and for ranks other than 4", () => {
    expect(versionOf(localResponseNormalization, [f32([1, 1, 1, 1]), ...options(1, 1, 1, 1), i32Scalar(0)])).toBe(
      "1.2",
    );
    expect(versionOf(localResponseNormalization, [f32([1, 1, 1]), ...options(1, 1, 1, 1)])).toBe("1.2");
    expect(() => run(f32([1, 1, 1, 1, 1]), ...options(1, 1, 1, 1))).toThrow("input: expected rank 1 to 4, got 5");
    expect(() => run(f32([1, 1]), ...options(1, 1, 1, 1), i32Scalar(2))).toThrow("axis 2 is outside [-2, 2)");
  });

  it("computes nothing of nothing", () => {
    expect(run(f32([2, 0, 3]), ...options(1, 1, 1, 1), i32Scalar(1)).dimensions).toEqual([2, 0, 3]);
  });
});
