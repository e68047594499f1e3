/**
 * Operations that make one element of many: MEAN, REDUCE_*, ARGMAX, ARGMIN and TOPK_V2.
 */
import type { OperandTypeName } from "@nnhal/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Operation } from "../define.ts";
import { elementCount } from "../tensor.ts";
import {
  bool8,
  boolScalar,
  declareOutput,
  f16,
  f32,
  type Given,
  i32,
  i32Scalar,
  mismatchOf,
  q8,
  q8s,
  runForOne,
  runOperation,
  tensorOf,
  valuesOf,
} from "./_run.test-helper.ts";
import {
  expectTypes,
  floatAndQuant8Versions,
  floatIntegerAndQuant8Versions,
  type Versions,
} from "./_signature.test-helper.ts";
import { argmax } from "./argmax.ts";
import { argmin } from "./argmin.ts";
import { mean } from "./mean.ts";
import { reduceAll } from "./reduce-all.ts";
import { reduceAny } from "./reduce-any.ts";
import { reduceMax } from "./reduce-max.ts";
import { reduceMin } from "./reduce-min.ts";
import { reduceProd } from "./reduce-prod.ts";
import { reduceSum } from "./reduce-sum.ts";
import { topkV2 } from "./topk-v2.ts";

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const makeCounting = (...dimensions: number[]) => f32(dimensions, upTo(elementCount(dimensions)));
const vector = (...values: number[]) => i32([values.length], values);
const declaredLike = (type: OperandTypeName) => [tensorOf(type, [1])];
const { NEGATIVE_INFINITY: least, POSITIVE_INFINITY: most } = Number;

type Keep = (keep: boolean) => Given;
const keepBool: Keep = boolScalar;
const keepNumber: Keep = (keep) => i32Scalar(keep ? 1 : 0);

/** The operations with axes, a formula for each, and how they write whether dimensions are kept. */
const families: readonly (readonly [Operation, (values: number[]) => number, Keep, (shape: number[]) => Given])[] = [
  [mean, (values) => values.reduce((a, b) => a + b) / values.length, keepNumber, (shape) => makeCounting(...shape)],
  [reduceSum, (values) => values.reduce((a, b) => a + b), keepBool, (shape) => makeCounting(...shape)],
  [
    reduceProd,
    (values) => values.reduce((a, b) => a * b),
    keepBool,
    (shape) =>
      f32(
        shape,
        upTo(elementCount(shape)).map((value) => ((value % 3) - 1) * 2),
      ),
  ],
  [reduceMax, (values) => Math.max(...values), keepBool, (shape) => scatter(shape)],
  [reduceMin, (values) => Math.min(...values), keepBool, (shape) => scatter(shape)],
  [reduceAll, (values) => (values.every(Boolean) ? 1 : 0), keepBool, (shape) => bits(shape, 4)],
  [reduceAny, (values) => (values.some(Boolean) ? 1 : 0), keepBool, (shape) => bits(shape, 2)],
];

/** Numbers in no order. */
function scatter(shape: number[]): Given {
  return f32(
    shape,
    upTo(elementCount(shape)).map((value) => ((value * 37) % 101) - 50),
  );
}

/** Booleans: mostly true for a greater `modulus`. */
function bits(shape: number[], modulus: number): Given {
  return bool8(
    shape,
    upTo(elementCount(shape)).map((value) => ((value * value) % 7) % modulus),
  );
}

describe.each(families)("$name", (operation, formula, keep, inputOf) => {
  const run = (input: Given, axes: number[], keepDimensions = false) =>
    runForOne(operation, [input, vector(...axes), keep(keepDimensions)]);

  it("reduces the axes listed, duplicates and negative ones too", () => {
    const cases = fc
      .array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 })
      .chain((shape) =>
        fc.tuple(
          fc.constant(shape),
          fc.array(fc.integer({ min: -shape.length, max: shape.length - 1 }), { maxLength: 4 }),
        ),
      );
    fc.assert(
      fc.property(cases, fc.boolean(), ([shape, axes], keepDimensions) => {
        const reduced = shape.map((_, axis) => axes.includes(axis) || axes.includes(axis - shape.length));
        const input = inputOf(shape);
        const groups = new Map<string, number[]>();
        input.data.forEach((value, index) => {
          let rest = index;
          const key: number[] = [];
          for (let axis = shape.length - 1; axis >= 0; axis--) {
            if (!reduced[axis]) key.unshift(rest % shape[axis]);
            rest = Math.floor(rest / shape[axis]);
          }
          groups.set(key.join(), [...(groups.get(key.join()) ?? []), value]);
        });
        const output = run(input, axes, keepDimensions);
        const kept = keepDimensions
          ? shape.map((extent, axis) => (reduced[axis] ? 1 : extent))
          : shape.filter((_, axis) => !reduced[axis]);
        expect(output.dimensions).toEqual(kept.length === 0 ? [1] : kept);
        const single =
          operation === reduceAll || operation === reduceAny ? (value: number) => (value ? 1 : 0) : Math.fround;
        expect(valuesOf(output).map((value) => value + 0)).toEqual(
          [...groups.values()].map((values) => single(formula(values)) + 0),
        );
      }),
    );
  });

  it("refuses axes outside, axes of rank 2, and inputs of rank 5", () => {
    const input = inputOf([2, 3]);
    expect(() => run(input, [2])).toThrow("axis 2 is outside [-2, 2)");
    expect(() => run(input, [-3])).toThrow("axis -3 is outside [-2, 2)");
    expect(() => runForOne(operation, [input, i32([1, 1]), keep(false)])).toThrow("axes: expected rank 1, got 2");
    expect(() => run(inputOf([1, 1, 1, 1, 1]), [0])).toThrow("input: expected rank 1 to 4, got 5");
  });
});

describe("MEAN", () => {
  const run = (input: Given, ...axes: number[]) => runForOne(mean, [input, vector(...axes), i32Scalar(0)]);

  it("rounds the real value of quantised means to nearest, halves away from zero", () => {
    expect(valuesOf(run(q8([2], 0.5, 0, [1, 2]), 0))).toEqual([2]);
    expect(valuesOf(run(q8([3], 0.5, 0, [1, 1, 2]), 0))).toEqual([1]);
    // (10 − 12 + 11 − 12) / 2 = −1.5, and 12 − 2 = 10.
    const output = run(q8([2], 0.5, 12, [10, 11]), 0);
    expect(valuesOf(output)).toEqual([10]);
    expect(output).toMatchObject({ scale: 0.5, zeroPoint: 12 });
  });

  it("computes the same for signed and unsigned tensors", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(255), { minLength: 1 }), fc.nat(255), (values, zeroPoint) => {
        const unsigned = run(q8([values.length], 1, zeroPoint, values), 0);
        const shifted = values.map((value) => value - 128);
        const signed = run(q8s([values.length], 1, zeroPoint - 128, shifted), 0);
        expect(valuesOf(signed)).toEqual(valuesOf(unsigned).map((value) => value - 128));
      }),
    );
  });

  it("keeps dimensions if the scalar is positive only", () => {
    const kept = (scalar: number) => runForOne(mean, [makeCounting(2, 3), vector(0), i32Scalar(scalar)]).dimensions;
    expect(kept(2)).toEqual([1, 3]);
    expect(kept(0)).toEqual([3]);
    expect(kept(-1)).toEqual([3]);
  });

  it("reduces nothing without axes, and refuses the mean of nothing", () => {
    expect(valuesOf(run(makeCounting(2)))).toEqual([1, 2]);
    expect(run(f32([2, 0]), 0).dimensions).toEqual([0]);
    expect(() => run(f32([2, 0]), 1)).toThrow("the axes that are reduced hold no elements, the shape being 2x0");
    expect(valuesOf(run(f16([2], [1, 2]), 0))).toEqual([1.5]);
  });

  it("takes the HAL's types", () => {
    const inputs = (type: OperandTypeName) => [tensorOf(type, [1]), vector(0), i32Scalar(0)];
    expectTypes(mean, floatAndQuant8Versions("1.1"), inputs, declaredLike);
    expect(mismatchOf(mean, [f32([1]), vector(0), boolScalar(false)])).toContain(
      "input 2 (keepDimensions): expected INT32, got BOOL",
    );
  });
});

describe("REDUCE_*", () => {
  const run = (operation: Operation, input: Given, ...axes: number[]) =>
    valuesOf(runForOne(operation, [input, vector(...axes), boolScalar(false)]));

  it("keeps infinities and quantised extremes", () => {
    expect(run(reduceMax, f32([2], [least, least]), 0)).toEqual([least]);
    expect(run(reduceMin, f32([2], [most, most]), 0)).toEqual([most]);
    expect(run(reduceMax, q8([3], 0.5, 9, [0, 3, 2]), 0)).toEqual([3]);
    expect(run(reduceMin, q8s([3], 0.5, 9, [-1, -128, 127]), 0)).toEqual([-128]);
    expect(runForOne(reduceMax, [q8s([1], 0.5, 9, [4]), vector(0), boolScalar(true)])).toMatchObject({
      scale: 0.5,
      zeroPoint: 9,
    });
  });

  it("makes a product with a factor of 0 zero, beside an infinity too", () => {
    expect(run(reduceProd, f32([2], [most, 0]), 0)).toEqual([0]);
    expect(run(reduceProd, f32([2], [0, least]), 0)).toEqual([0]);
    expect(run(reduceProd, f32([2], [-2, most]), 0)).toEqual([least]);
  });

  it("takes any byte but 0 as true, and returns 0 or 1", () => {
    expect(run(reduceAll, bool8([2], [2, 255]), 0)).toEqual([1]);
    expect(run(reduceAny, bool8([2], [0, 2]), 0)).toEqual([1]);
    expect(run(reduceAll, bool8([2], [2, 0]), 0)).toEqual([0]);
    expect(run(reduceAny, bool8([2], [0, 0]), 0)).toEqual([0]);
  });

  it("computes a result of no elements if one is defined", () => {
    expect(run(reduceSum, f32([0]), 0)).toEqual([0]);
    expect(run(reduceProd, f32([0]), 0)).toEqual([1]);
    expect(run(reduceAll, bool8([0]), 0)).toEqual([1]);
    expect(run(reduceAny, bool8([0]), 0)).toEqual([0]);
    for (const operation of [reduceMax, reduceMin]) {
      expect(() => run(operation, f32([2, 0]), 1)).toThrow("hold no elements, the shape being 2x0");
    }
  });

  it("adds without losing what float32 would lose", () => {
    expect(run(reduceSum, f32([3], [2 ** 24, 1, 1]), 0)).toEqual([2 ** 24 + 2]);
    expect(run(reduceSum, f16([3], [2048, 1, 1]), 0)).toEqual([2050]);
  });

  it("takes the HAL's types", () => {
    const inputs = (type: OperandTypeName) => [tensorOf(type, [1]), vector(0), boolScalar(false)];
    const floats: Versions = { TENSOR_FLOAT32: "1.2", TENSOR_FLOAT16: "1.2" };
    expectTypes(reduceSum, floats, inputs, declaredLike);
    expectTypes(reduceProd, floats, inputs, declaredLike);
    expectTypes(reduceMax, floatAndQuant8Versions("1.2"), inputs, declaredLike);
    expectTypes(reduceMin, floatAndQuant8Versions("1.2"), inputs, declaredLike);
    expectTypes(reduceAll, { TENSOR_BOOL8: "1.2" }, inputs, declaredLike);
    expectTypes(reduceAny, { TENSOR_BOOL8: "1.2" }, inputs, declaredLike);
  });
});

describe.each([
  [argmax, 1],
  [argmin, -1],
] as const)("$name", (operation, sign) => {
  const output = declareOutput("TENSOR_INT32");
  const run = (input: Given, axis: number) => runForOne(operation, [input, i32Scalar(axis)], output);

  it("returns the first place of the extreme along an axis", () => {
    const values = [3, 9, 9, 7, 1, 8].map((value) => value * sign);
    const last = run(f32([2, 3], values), 1);
    expect(last.dimensions).toEqual([2]);
    expect(valuesOf(last)).toEqual([1, 2]);
    const first = run(i32([2, 3], values), -2);
    expect(first.dimensions).toEqual([3]);
    expect(valuesOf(first)).toEqual([1, 0, 0]);
    const middle = run(f32([1, 3, 2], values), 1);
    expect(middle.dimensions).toEqual([1, 2]);
    expect(valuesOf(middle)).toEqual([1, 0]);
  });

  it("returns [1] for an input of rank 1", () => {
    const one = run(q8s([3], 0.5, 0, [1 * sign, 2 * sign, 2 * sign]), 0);
    expect(one.dimensions).toEqual([1]);
    expect(valuesOf(one)).toEqual([1]);
    expect(valuesOf(run(q8([2], 0.5, 0, sign > 0 ? [0, 255] : [255, 0]), -1))).toEqual([1]);
  });

  it("refuses axes outside, and axes without elements", () => {
    expect(() => run(makeCounting(2, 3), 2)).toThrow("axis 2 is outside [-2, 2)");
    expect(() => run(makeCounting(2, 3), -3)).toThrow("axis -3 is outside [-2, 2)");
    expect(() => run(f32([2, 0]), 1)).toThrow("axis 1 has no elements");
    expect(run(f32([2, 0]), 0).dimensions).toEqual([0]);
  });

  it("takes the HAL's types", () => {
    const inputs = (type: OperandTypeName) => [tensorOf(type, [1]), i32Scalar(0)];
    expectTypes(operation, floatIntegerAndQuant8Versions, inputs, () => [output]);
    expect(mismatchOf(operation, [f32([1]), i32Scalar(0)])).toContain(
      "output 0 (output): expected TENSOR_INT32, got TENSOR_FLOAT32",
    );
  });
});

describe("TOPK_V2", () => {
  const run = (input: Given, k: number) =>
    runOperation(topkV2, [input, i32Scalar(k)], {
      outputs: [
        declareOutput(input.type, { scale: input.scale, zeroPoint: input.zeroPoint }),
        declareOutput("TENSOR_INT32"),
      ],
    });

  it("returns the greatest elements and their places, greatest first", () => {
    const [values, indices] = run(f32([2, 3], [1, 3, 2, -4, -6, -5]), 2);
    expect(values.dimensions).toEqual([2, 2]);
    expect(valuesOf(values)).toEqual([3, 2, -4, -5]);
    expect(indices.dimensions).toEqual([2, 2]);
    expect(valuesOf(indices)).toEqual([1, 2, 0, 2]);
  });

  it("returns the larger index first if elements are equal, infinities too", () => {
    expect(run(i32([4], [5, 7, 5, 7]), 4).map(valuesOf)).toEqual([
      [7, 7, 5, 5],
      [3, 1, 2, 0],
    ]);
    expect(run(f32([3], [most, least, most]), 3).map(valuesOf)).toEqual([
      [most, most, least],
      [2, 0, 1],
    ]);
  });

  it("agrees with sorting", () => {
    const rows = fc.integer({ min: 1, max: 6 }).chain((length) =>
      fc.tuple(
        fc.integer({ min: 1, max: length }),
        fc.array(fc.array(fc.integer({ min: -3, max: 3 }), { minLength: length, maxLength: length }), {
          minLength: 1,
        }),
      ),
    );
    fc.assert(
      fc.property(rows, ([k, lists]) => {
        const [values, indices] = run(i32([lists.length, lists[0].length], lists.flat()), k);
        const sorted = lists.map((list) =>
          list
            .map((value, index) => ({ value, index }))
            .sort((a, b) => b.value - a.value || b.index - a.index)
            .slice(0, k),
        );
        expect(valuesOf(values)).toEqual(sorted.flat().map(({ value }) => value));
        expect(valuesOf(indices)).toEqual(sorted.flat().map(({ index }) => index));
      }),
    );
  });

  it("keeps scale and zero point", () => {
    const [values] = run(q8([2], 0.5, 6, [1, 2]), 1);
    expect(values).toMatchObject({ dimensions: [1], scale: 0.5, zeroPoint: 6 });
    expect(valuesOf(values)).toEqual([2]);
  });

  it("refuses k outside [1, last extent], and works on no rows", () => {
    expect(() => run(makeCounting(3), 0)).toThrow("k: expected a number within [1, 3], got 0");
    expect(() => run(makeCounting(3), 4)).toThrow("k: expected a number within [1, 3], got 4");
    expect(valuesOf(run(makeCounting(3), 3)[1])).toEqual([2, 1, 0]);
    expect(run(f32([0, 3]), 2).map(({ dimensions }) => dimensions)).toEqual([
      [0, 2],
      [0, 2],
    ]);
  });

  it("takes the HAL's types", () => {
    expectTypes(
      topkV2,
      floatIntegerAndQuant8Versions,
      (type) => [tensorOf(type, [1]), i32Scalar(1)],
      (type) => [tensorOf(type, [1]), declareOutput("TENSOR_INT32")],
    );
  });
});
