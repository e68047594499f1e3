import type { OperandTypeName } from "@nnhal/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { elementCount } from "../tensor.ts";
import {
  f16,
  f16Scalar,
  f32,
  f32Scalar,
  type Given,
  i32,
  i32Scalar,
  mismatchOf,
  q8,
  q8s,
  runForOne,
  tensorOf,
  valuesOf,
  versionOf,
} from "./_run.test-helper.ts";
import { expectTypes, floatAndQuant8Versions } from "./_signature.test-helper.ts";
import { pad } from "./pad.ts";
import { padV2 } from "./pad-v2.ts";
import { slice } from "./slice.ts";

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const makeCounting = (...dimensions: number[]) => f32(dimensions, upTo(elementCount(dimensions)));
const vector = (...values: number[]) => i32([values.length], values);
const padsOf = (...pads: number[]) => i32([pads.length / 2, 2], pads);
const declaredLike = (type: OperandTypeName) => [tensorOf(type, [1])];

describe("PAD", () => {
  it("puts zeros around a tensor", () => {
    const output = runForOne(pad, [makeCounting(2, 2), padsOf(1, 0, 0, 2)]);
    expect(output.dimensions).toEqual([3, 4]);
    expect(valuesOf(output)).toEqual([0, 0, 0, 0, 1, 2, 0, 0, 3, 4, 0, 0]);
    expect(valuesOf(runForOne(pad, [f16([1], [1.5]), padsOf(1, 1)]))).toEqual([0, 1.5, 0]);
  });

  it("pads quantised tensors with the zero point", () => {
    const output = runForOne(pad, [q8([1], 0.5, 7, [1]), padsOf(1, 2)]);
    expect(output).toMatchObject({ dimensions: [4], scale: 0.5, zeroPoint: 7 });
    expect(valuesOf(output)).toEqual([7, 1, 7, 7]);
    expect(valuesOf(runForOne(pad, [q8s([1], 0.5, -128, [1]), padsOf(1, 0)]))).toEqual([-128, 1]);
  });

  it("pads a tensor of no elements", () => {
    expect(valuesOf(runForOne(pad, [f32([0]), padsOf(1, 1)]))).toEqual([0, 0]);
  });

  it("needs 1.2 for a zero point other than 0", () => {
    expect(versionOf(pad, [q8([1], 1, 0, [0]), padsOf(0, 0)])).toBe("1.1");
    expect(versionOf(pad, [q8([1], 1, 1, [0]), padsOf(0, 0)])).toBe("1.2");
    expect(versionOf(pad, [q8s([1], 1, 1, [0]), padsOf(0, 0)])).toBe("1.3");
  });

  it("takes the HAL's types", () => {
    const inputs = (type: OperandTypeName) => [tensorOf(type, [1]), padsOf(0, 0)];
    expectTypes(pad, floatAndQuant8Versions("1.1"), inputs, declaredLike);
  });
});

describe("PAD_V2", () => {
  it("puts a value around a tensor", () => {
    const output = runForOne(padV2, [makeCounting(1, 2), padsOf(0, 1, 1, 0), f32Scalar(9)]);
    expect(output.dimensions).toEqual([2, 3]);
    expect(valuesOf(output)).toEqual([9, 1, 2, 9, 9, 9]);
    expect(valuesOf(runForOne(padV2, [f16([1], [1]), padsOf(0, 1), f16Scalar(-0.5)]))).toEqual([1, -0.5]);
  });

  it("takes the low byte of a quantised tensor's value as it is", () => {
    const padded = (build: typeof q8, value: number) =>
      valuesOf(runForOne(padV2, [build([1], 0.5, 3, [1]), padsOf(0, 1), i32Scalar(value)]));
    expect(padded(q8, 9)).toEqual([1, 9]);
    expect(padded(q8, 255)).toEqual([1, 255]);
    expect(padded(q8, 256)).toEqual([1, 0]);
    expect(padded(q8, -1)).toEqual([1, 255]);
    expect(padded(q8s, -128)).toEqual([1, -128]);
    expect(padded(q8s, 128)).toEqual([1, -128]);
  });

  it("takes the HAL's types, each with its type of value", () => {
    const values: Partial<Record<OperandTypeName, Given>> = {
      TENSOR_FLOAT32: f32Scalar(0),
      TENSOR_FLOAT16: f16Scalar(0),
    };
    const inputs = (type: OperandTypeName) => [tensorOf(type, [1]), padsOf(0, 0), values[type] ?? i32Scalar(0)];
    expectTypes(padV2, floatAndQuant8Versions("1.2"), inputs, declaredLike);
    expect(mismatchOf(padV2, [f32([1]), padsOf(0, 0), i32Scalar(0)])).toContain(
      "input 2 (value): expected FLOAT32, got INT32",
    );
    expect(mismatchOf(padV2, [q8([1], 1, 0), padsOf(0, 0), f32Scalar(0)])).toContain(
      "input 2 (value): expected INT32, got FLOAT32",
    );
  });
});

describe.each([
  [pad, []],
  [padV2, [f32Scalar(1)]],
] as const)("$name", (operation, rest) => {
  it("refuses pads below 0 or of another shape, and ranks above 4", () => {
    const run = (input: Given, pads: Given) => () => runForOne(operation, [input, pads, ...rest]);
    expect(run(makeCounting(2), padsOf(-1, 0))).toThrow("padding -1 and 0 of axis 0 is less than 0");
    expect(run(makeCounting(2), padsOf(0, -1))).toThrow("padding 0 and -1 of axis 0 is less than 0");
    expect(run(makeCounting(2), padsOf(0, 0, 0, 0))).toThrow("the shape of the paddings: expected 1x2, got 2x2");
    expect(run(makeCounting(2), i32([2, 1]))).toThrow("the shape of the paddings: expected 1x2, got 2x1");
    expect(run(makeCounting(2), i32([2]))).toThrow("paddings: expected rank 2, got 1");
    expect(run(f32([1, 1, 1, 1, 1]), i32([5, 2]))).toThrow("input: expected rank 1 to 4, got 5");
  });

  it("is undone by slicing", () => {
    const axis = fc.tuple(fc.integer({ min: 0, max: 3 }), fc.nat(2), fc.nat(2));
    fc.assert(
      fc.property(fc.array(axis, { minLength: 1, maxLength: 4 }), (axes) => {
        const input = makeCounting(...axes.map(([extent]) => extent));
        const padded = runForOne(operation, [input, padsOf(...axes.flatMap(([, ...pads]) => pads)), ...rest]);
        expect(padded.dimensions).toEqual(axes.map(([extent, before, after]) => before + extent + after));
        const begin = vector(...axes.map(([, before]) => before));
        const cut = runForOne(slice, [{ ...padded, data: padded.data }, begin, vector(...input.dimensions)]);
        expect(valuesOf(cut)).toEqual(valuesOf(input));
        const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
        const around = (padded.data.length - input.data.length) * (rest.length === 0 ? 0 : 1);
        expect(sum(valuesOf(padded))).toBe(sum(valuesOf(input)) + around);
      }),
    );
  });
});
