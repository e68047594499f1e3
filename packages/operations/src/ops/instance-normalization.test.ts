/**
 * INSTANCE_NORMALIZATION: cases worked out by hand, random ones against what they mean, and each rule.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cellsOf, fillTensor, inLayout, layouts, numbers, seeds } from "./_image.test-helper.ts";
import {
  boolScalar,
  f16,
  f16Scalar,
  f32,
  f32Scalar,
  type Given,
  mismatchOf,
  q8,
  runForOne,
  valuesOf,
  versionOf,
} from "./_run.test-helper.ts";
import { instanceNormalization } from "./instance-normalization.ts";

const options = (gamma: number, beta: number, epsilon: number, nchw = false) => [
  ...[gamma, beta, epsilon].map(f32Scalar),
  boolScalar(nchw),
];
const run = (...inputs: Given[]) => runForOne(instanceNormalization, inputs);

describe("INSTANCE_NORMALIZATION", () => {
  it("takes the mean away and divides by the deviation, channel by channel", () => {
    const input = f32([1, 1, 2, 2], [1, 10, 3, 50]);
    expect(valuesOf(run(input, ...options(1, 0, 0)))).toEqual([-1, -1, 1, 1]);
    expect(valuesOf(run(input, ...options(2, 5, 0)))).toEqual([3, 3, 7, 7]);
    expect(valuesOf(run(f32([1, 2, 1, 2], [1, 3, 10, 50]), ...options(1, 0, 0, true)))).toEqual([-1, 1, -1, 1]);
  });

  it("adds epsilon to the variance", () => {
    expect(valuesOf(run(f32([1, 1, 2, 1], [1, 3]), ...options(1, 0, 3)))).toEqual([-0.5, 0.5]);
    expect(valuesOf(run(f32([1, 1, 2, 1], [4, 4]), ...options(1, 0.5, 0.0001)))).toEqual([0.5, 0.5]);
  });

  it("takes float16", () => {
    const scalars = [1, 0, 0].map(f16Scalar);
    expect(valuesOf(run(f16([1, 1, 2, 1], [1000, 3000]), ...scalars, boolScalar(false)))).toEqual([-1, 1]);
  });

  it("leaves mean beta and deviation gamma", () => {
    const extents = fc.tuple(...[2, 4, 4, 3].map((max) => fc.integer({ min: 1, max })));
    fc.assert(
      fc.property(extents, layouts, seeds, ([batches, height, width, channels], nchw, seed) => {
        const next = numbers(seed);
        const input = fillTensor("TENSOR_FLOAT32", inLayout([batches, height, width, channels], nchw), next);
        const output = run(input, ...options(3, -2, 1e-6, nchw));
        expect(output.dimensions).toEqual(input.dimensions);
        const [from, to] = [cellsOf(input, nchw), cellsOf(output, nchw)];
        for (let batch = 0; batch < batches; batch++) {
          for (let channel = 0; channel < channels; channel++) {
            const pixels = Array.from({ length: height * width }, (_, pixel) => [
              Math.floor(pixel / width),
              pixel % width,
            ]);
            const mean = (value: (y: number, x: number) => number) =>
              pixels.reduce((sum, [y, x]) => sum + value(y, x), 0) / pixels.length;
            const spread = (cells: typeof from) => {
              const center = mean((y, x) => cells(batch, y, x, channel));
              return { center, deviation: Math.sqrt(mean((y, x) => (cells(batch, y, x, channel) - center) ** 2)) };
            };
            expect(spread(to).center).toBeCloseTo(-2, 4);
            expect(spread(to).deviation).toBeCloseTo(spread(from).deviation === 0 ? 0 : 3, 3);
          }
        }
      }),
    );
  });

  it("computes nothing of nothing, however many channels that has", () => {
    for (const shape of [
      [0, 2, 2, 2],
      [1, 0, 2, 2],
      [1, 2, 2, 0],
      [2 ** 31 - 1, 0, 1, 2 ** 31 - 1],
    ]) {
      expect(run(f32(shape), ...options(1, 0, 1)).dimensions).toEqual(shape);
    }
  });

  it("takes images of floats of one width, with a layout", () => {
    expect(versionOf(instanceNormalization, [f32([1, 1, 1, 1]), ...options(1, 0, 0)])).toBe("1.2");
    const half = [1, 0, 0].map(f16Scalar);
    expect(versionOf(instanceNormalization, [f16([1, 1, 1, 1]), ...half, boolScalar(true)])).toBe("1.2");
    expect(mismatchOf(instanceNormalization, [f32([1, 1, 1, 1]), ...half, boolScalar(true)])).toContain(
      "(input): expected TENSOR_FLOAT16, got TENSOR_FLOAT32",
    );
    expect(mismatchOf(instanceNormalization, [q8([1, 1, 1, 1], 1, 0), ...options(1, 0, 0)])).toContain("(input)");
    expect(mismatchOf(instanceNormalization, [f32([1, 1, 1, 1]), ...options(1, 0, 0).slice(0, 3)])).toContain(
      "4 inputs",
    );
    expect(() => run(f32([1, 1, 1]), ...options(1, 0, 0))).toThrow("input: expected rank 4, got 3");
  });
});
