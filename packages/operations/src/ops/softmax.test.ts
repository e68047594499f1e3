import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  expectClose,
  f16,
  f16Scalar,
  f32,
  f32Scalar,
  i32,
  i32Scalar,
  mismatchOf,
  q8,
  q8s,
  runForOne,
  valuesOf,
  versionOf,
} from "./_run.test-helper.ts";
import { softmax } from "./softmax.ts";

const one = f32Scalar(1);

function shares(values: readonly number[], beta: number): number[] {
  const greatest = Math.max(...values);
  const exponentials = values.map((value) => Math.exp((value - greatest) * beta));
  const sum = exponentials.reduce((total, value) => total + value, 0);
  return exponentials.map((value) => value / sum);
}

describe("SOFTMAX of floats", () => {
  it("shares 1 among the elements of the last axis", () => {
    const result = valuesOf(runForOne(softmax, [f32([2, 3], [1, 2, 3, -1, -1, 5]), f32Scalar(0.5)]));
    expectClose(result, [...shares([1, 2, 3], 0.5), ...shares([-1, -1, 5], 0.5)], 1e-7);
  });

  it.each([
    [0, [0, 2, 1, 3]],
    [1, [0, 1, 2, 3]],
    [-1, [0, 1, 2, 3]],
    [-2, [0, 2, 1, 3]],
  ])("along axis %d", (axis, order) => {
    const values = [1, 2, 4, 8];
    const [a, b, c, d] = order;
    const expected = new Array<number>(4);
    for (const [i, j] of [
      [a, b],
      [c, d],
    ]) {
      [expected[i], expected[j]] = shares([values[i], values[j]], 1);
    }
    expectClose(valuesOf(runForOne(softmax, [f32([2, 2], values), one, i32Scalar(axis)])), expected, 1e-7);
  });

  it("along an inner axis of rank 4 equals the same lanes on their own", () => {
    const values = Array.from({ length: 2 * 3 * 2 * 2 }, (_, index) => Math.sin(index * 7));
    const result = valuesOf(runForOne(softmax, [f32([2, 3, 2, 2], values), one, i32Scalar(1)]));
    for (let outer = 0; outer < 2; outer++) {
      for (let inner = 0; inner < 4; inner++) {
        const lane = [0, 1, 2].map((index) => outer * 12 + index * 4 + inner);
        const expected = shares(
          lane.map((index) => values[index]),
          1,
        );
        expectClose(
          lane.map((index) => result[index]),
          expected,
          1e-7,
        );
      }
    }
  });

  it("does not overflow", () => {
    expect(valuesOf(runForOne(softmax, [f32([1, 3], [1e30, -1e30, 1e30]), one]))).toEqual([0.5, 0, 0.5]);
  });

  it("of float16 is rounded to float16", () => {
    expect(valuesOf(runForOne(softmax, [f16([1, 3], [1, 1, 1]), f16Scalar(1)]))).toEqual(
      new Array(3).fill(0.333251953125),
    );
  });
});

describe("SOFTMAX of quantised elements", () => {
  it("has scale 1/256 and the least value as its zero point", () => {
    expect(runForOne(softmax, [q8([1, 2], 0.1, 30), one])).toMatchObject({ scale: 1 / 256, zeroPoint: 0 });
    expect(runForOne(softmax, [q8s([1, 2], 0.1, 30), one])).toMatchObject({ scale: 1 / 256, zeroPoint: -128 });
  });

  it("is within one unit, unsigned and signed alike, whatever the zero point", () => {
    const elements = fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 1, maxLength: 40 });
    const positive = fc.double({ min: 0.001, max: 3, noNaN: true });
    fc.assert(
      fc.property(elements, positive, positive, fc.integer({ min: 0, max: 255 }), (values, scale, beta, zeroPoint) => {
        const shape = [1, values.length];
        const unsigned = valuesOf(runForOne(softmax, [q8(shape, scale, zeroPoint, values), f32Scalar(beta)]));
        const expected = shares(values, Math.fround(scale) * Math.fround(beta)).map((x) => Math.min(255, x * 256));
        expectClose(unsigned, expected, 1);
        const lowered = values.map((value) => value - 128);
        const signed = runForOne(softmax, [q8s(shape, scale, zeroPoint - 128, lowered), f32Scalar(beta)]);
        expect(valuesOf(signed)).toEqual(unsigned.map((value) => value - 128));
      }),
    );
  });

  it("computes the HAL reference's elements bit by bit", () => {
    const input0 = q8([1, 10], 0.00125641539, 0, [200, 125, 105, 202, 222, 116, 58, 182, 175, 117]);
    expect(valuesOf(runForOne(softmax, [input0, f32Scalar(0.0740614384)]))).toEqual([
      26, 26, 25, 26, 26, 26, 25, 26, 26, 26,
    ]);
    const input1 = q8([1, 12], 0.063433893, 0, [201, 203, 200, 203, 206, 205, 200, 203, 202, 203, 205, 200]);
    expect(valuesOf(runForOne(softmax, [input1, f32Scalar(2.15233707)]))).toEqual([
      17, 22, 14, 22, 33, 29, 14, 22, 19, 22, 29, 14,
    ]);
  });

  it.each([1, 2, 255, 256, 511, 512, 513, 5000, 20_000])("shares evenly among %d equal elements", (length) => {
    const result = valuesOf(runForOne(softmax, [q8([1, length], 0.1, 0, new Array(length).fill(77)), one]));
    expectClose(result, new Array(length).fill(Math.min(255, 256 / length)), 0.5);
  });

  it("knows no difference if beta is tiny, and only the greatest if it is huge", () => {
    const values = q8([1, 4], 1, 0, [0, 100, 254, 255]);
    expect(valuesOf(runForOne(softmax, [values, f32Scalar(1e-12)]))).toEqual([64, 64, 64, 64]);
    expect(valuesOf(runForOne(softmax, [values, f32Scalar(1e12)]))).toEqual([0, 0, 0, 255]);
  });

  it("along an axis equals the same lanes on their own", () => {
    const values = [10, 200, 30, 220, 50, 240];
    const result = valuesOf(runForOne(softmax, [q8([3, 2], 0.05, 0, values), one, i32Scalar(0)]));
    for (const column of [0, 1]) {
      const lane = [0, 1, 2].map((row) => row * 2 + column);
      const alone = runForOne(softmax, [
        q8(
          [1, 3],
          0.05,
          0,
          lane.map((index) => values[index]),
        ),
        one,
      ]);
      expect(lane.map((index) => result[index])).toEqual(valuesOf(alone));
    }
  });
});

describe("SOFTMAX's signature", () => {
  it("needs 1.2 for an axis, and for ranks other than 2 and 4", () => {
    expect(versionOf(softmax, [f32([1, 1]), one])).toBe("1.0");
    expect(versionOf(softmax, [f32([1, 1, 1, 1]), one])).toBe("1.0");
    expect(versionOf(softmax, [f32([]), one])).toBe("1.0");
    expect(versionOf(softmax, [f32([1]), one])).toBe("1.2");
    expect(versionOf(softmax, [f32([1, 1, 1]), one])).toBe("1.2");
    expect(versionOf(softmax, [f32([1, 1]), one, i32Scalar(-1)])).toBe("1.2");
    expect(versionOf(softmax, [f16([1, 1]), f16Scalar(1)])).toBe("1.2");
    expect(versionOf(softmax, [q8([1, 1], 1, 0), one])).toBe("1.0");
    expect(versionOf(softmax, [q8s([1, 1], 1, 0), one])).toBe("1.3");
  });

  it("refuses other types", () => {
    expect(mismatchOf(softmax, [i32([1, 1]), one])).toContain(
      "input 0 (input): expected TENSOR_FLOAT32, got TENSOR_INT32",
    );
    expect(mismatchOf(softmax, [f16([1, 1]), one])).toContain("input 1 (beta): expected FLOAT16, got FLOAT32");
    expect(mismatchOf(softmax, [f32([1, 1])])).toContain(
      "expected 2 to 3 inputs and 1 outputs, got 1 inputs and 1 outputs",
    );
  });

  it.each([0, -1, Number.NaN])("refuses beta %d", (beta) => {
    expect(() => runForOne(softmax, [f32([1, 1]), f32Scalar(beta)])).toThrow(
      `beta: expected a number > 0, got ${beta}`,
    );
  });

  it.each([-3, 2])("refuses axis %d of rank 2", (axis) => {
    expect(() => runForOne(softmax, [f32([1, 1]), one, i32Scalar(axis)])).toThrow(`axis ${axis} is outside [-2, 2)`);
  });

  it("takes ranks 1 to 4, and no elements", () => {
    expect(valuesOf(runForOne(softmax, [f32([1], [5]), one]))).toEqual([1]);
    expect(() => runForOne(softmax, [f32([1, 1, 1, 1, 1]), one])).toThrow("input: expected rank 1 to 4, got 5");
    expect(runForOne(softmax, [f32([2, 0]), one]).dimensions).toEqual([2, 0]);
    expect(runForOne(softmax, [q8([0, 2], 1, 0), one]).dimensions).toEqual([0, 2]);
  });
});
