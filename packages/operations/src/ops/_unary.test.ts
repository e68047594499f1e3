import { describe, expect, it } from "vitest";
import type { Operation } from "../define.ts";
import { roundToFloat16 } from "../float16.ts";
import { bool8, f16, f32, i32, mismatchOf, q8, runForOne, valuesOf, versionOf } from "./_run.test-helper.ts";
import { abs } from "./abs.ts";
import { exp } from "./exp.ts";
import { floor } from "./floor.ts";
import { log } from "./log.ts";
import { logicalNot } from "./logical-not.ts";
import { neg } from "./neg.ts";
import { rsqrt } from "./rsqrt.ts";
import { sin } from "./sin.ts";
import { sqrt } from "./sqrt.ts";

const { POSITIVE_INFINITY: INF, NaN: NAN } = Number;

const floatCases: [Operation, (x: number) => number][] = [
  [abs, Math.abs],
  [exp, Math.exp],
  [floor, Math.floor],
  [log, Math.log],
  [neg, (x) => -x],
  [rsqrt, (x) => 1 / Math.sqrt(x)],
  [sin, Math.sin],
  [sqrt, Math.sqrt],
];

describe.each(floatCases)("$name", (operation, real) => {
  const values = [-1e3, -2.5, -1, -0.25, 0, 0.1, 1, 2, 3.75, 80, 1e6].map(Math.fround);

  it("of float32 is the real function rounded once", () => {
    const result = runForOne(operation, [f32([values.length], values)]);
    expect(valuesOf(result)).toEqual(values.map((value) => Math.fround(real(value))));
  });

  it("of float16 is rounded to float16", () => {
    const expected = roundToFloat16(Math.fround(real(0.300048828125)));
    expect(valuesOf(runForOne(operation, [f16([1], [0.3])]))).toEqual([expected]);
  });

  it("keeps the shape, of no elements too", () => {
    expect(runForOne(operation, [f32([1, 2, 3])]).dimensions).toEqual([1, 2, 3]);
    expect(runForOne(operation, [f32([2, 0])]).dimensions).toEqual([2, 0]);
  });

  it("takes one float tensor", () => {
    if (operation === rsqrt) expect(versionOf(operation, [q8([1], 1, 0)])).toBe("aidl3");
    else expect(mismatchOf(operation, [q8([1], 1, 0)])).toContain("got TENSOR_QUANT8_ASYMM");
    expect(mismatchOf(operation, [f32([1]), f32([1])])).toContain(
      "expected 1 inputs and 1 outputs, got 2 inputs and 1 outputs",
    );
    expect(versionOf(operation, [f16([1])])).toBe("1.2");
    expect(versionOf(operation, [f32([1])])).toBe(operation === floor ? "1.0" : "1.2");
  });
});

describe("at the edges", () => {
  it.each([
    [log, [0, -1, INF], [-INF, NAN, INF]],
    [sqrt, [-1, INF], [NAN, INF]],
    [rsqrt, [0, -1, INF], [INF, NAN, 0]],
    [exp, [1000, -1000, -INF], [INF, 0, 0]],
    [floor, [-0.5, 0.99, INF], [-1, 0, INF]],
    [sin, [INF], [NAN]],
  ])("$name of %j is %j", (operation, input, output) => {
    expect(valuesOf(runForOne(operation, [f32([input.length], input)]))).toEqual(output);
  });
});

describe("integers", () => {
  it("ABS and NEG wrap at the least integer", () => {
    const input = i32([4], [-5, 5, 0, -(2 ** 31)]);
    expect(valuesOf(runForOne(abs, [input]))).toEqual([5, 5, 0, -(2 ** 31)]);
    expect(valuesOf(runForOne(neg, [input]))).toEqual([5, -5, 0, -(2 ** 31)]);
  });

  it("came in 1.3 for ABS, in 1.2 for NEG, and not for the others", () => {
    expect(versionOf(abs, [i32([1])])).toBe("1.3");
    expect(versionOf(neg, [i32([1])])).toBe("1.2");
    for (const operation of [exp, floor, log, rsqrt, sin, sqrt]) {
      expect(mismatchOf(operation, [i32([1])])).toContain("input 0 (input): expected TENSOR_FLOAT");
    }
  });
});

describe("ranks", () => {
  it("FLOOR accepts ranks 1 to 4, the others any", () => {
    const five = f32([1, 1, 1, 1, 1], [1]);
    expect(() => runForOne(floor, [five])).toThrow("input: expected rank 1 to 4, got 5");
    expect(runForOne(floor, [f32([1, 1, 1, 1], [1])]).dimensions).toHaveLength(4);
    expect(runForOne(sqrt, [five]).dimensions).toHaveLength(5);
  });
});

describe("LOGICAL_NOT", () => {
  it("is 1 for 0 and 0 for any other byte", () => {
    expect(valuesOf(runForOne(logicalNot, [bool8([4], [0, 1, 2, 255])]))).toEqual([1, 0, 0, 0]);
  });

  it("takes TENSOR_BOOL8, since 1.2", () => {
    expect(versionOf(logicalNot, [bool8([1])])).toBe("1.2");
    expect(mismatchOf(logicalNot, [f32([1])])).toContain("expected TENSOR_BOOL8, got");
  });
});
