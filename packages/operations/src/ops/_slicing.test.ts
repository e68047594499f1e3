/**
 * Operations that cut tensors and put them together: SLICE, STRIDED_SLICE, SPLIT and CONCATENATION.
 */

import type { OperandTypeName } from "@nnhal/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { elementCount } from "../tensor.ts";
import {
  declareOutput,
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
  versionOf,
} from "./_run.test-helper.ts";
import { expectTypes, floatAndQuant8Versions, floatIntegerAndQuant8Versions } from "./_signature.test-helper.ts";
import { concatenation } from "./concatenation.ts";
import { slice } from "./slice.ts";
import { split } from "./split.ts";
import { stridedSlice } from "./strided-slice.ts";

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const makeCounting = (...dimensions: number[]) => f32(dimensions, upTo(elementCount(dimensions)));
const vector = (...values: number[]) => i32([values.length], values);
const declaredLike = (type: OperandTypeName) => [tensorOf(type, [1])];

describe("SLICE", () => {
  const sliced = (input: Given, begin: number[], size: number[]) =>
    runForOne(slice, [input, vector(...begin), vector(...size)]);

  it("takes a box", () => {
    const output = sliced(makeCounting(3, 4), [1, 1], [2, 2]);
    expect(output.dimensions).toEqual([2, 2]);
    expect(valuesOf(output)).toEqual([6, 7, 10, 11]);
  });

  it("reaches to the end of the axis if the size is -1", () => {
    expect(valuesOf(sliced(makeCounting(3, 4), [2, 1], [-1, -1]))).toEqual([10, 11, 12]);
    expect(sliced(makeCounting(3, 4), [3, 0], [-1, 4]).dimensions).toEqual([0, 4]);
  });

  it("takes nothing, out of nothing", () => {
    expect(sliced(f32([0, 2]), [0, 1], [0, 1]).dimensions).toEqual([0, 1]);
    expect(sliced(makeCounting(2), [2], [0]).dimensions).toEqual([0]);
  });

  it("works at any rank and keeps scale and zero point", () => {
    expect(valuesOf(sliced(makeCounting(1, 1, 2, 1, 1, 2), [0, 0, 1, 0, 0, 0], [1, 1, 1, 1, 1, -1]))).toEqual([3, 4]);
    const output = sliced(q8([3], 0.5, 9, [1, 2, 3]), [1], [2]);
    expect(output).toMatchObject({ scale: 0.5, zeroPoint: 9 });
    expect(valuesOf(output)).toEqual([2, 3]);
  });

  it.each([
    [[-1], [1], "begin -1 of axis 0 is outside [0, 3]"],
    [[4], [0], "begin 4 of axis 0 is outside [0, 3]"],
    [[1], [3], "3 elements from 1 of axis 0 are not within its extent of 3"],
    [[1], [-2], "-2 elements from 1 of axis 0"],
    [[0x7fff_ffff], [0x7fff_ffff], "begin 2147483647 of axis 0"],
    [[0, 0], [1], "begin and size: expected 1 elements (the rank), got 2 and 1"],
    [[0], [1, 1], "begin and size: expected 1 elements (the rank), got 1 and 2"],
  ])("refuses begin %j and size %j of an extent of 3", (begin, size, message) => {
    expect(() => sliced(makeCounting(3), begin, size)).toThrow(message);
  });

  it("takes the HAL's types", () => {
    const inputs = (type: OperandTypeName) => [tensorOf(type, [1]), vector(0), vector(1)];
    expectTypes(slice, floatIntegerAndQuant8Versions, inputs, declaredLike);
  });
});

describe("STRIDED_SLICE", () => {
  interface Masks {
    begin?: number;
    end?: number;
    shrink?: number;
  }
  const sliced = (input: Given, begin: number[], end: number[], strides: number[], masks: Masks = {}) =>
    runForOne(stridedSlice, [
      input,
      vector(...begin),
      vector(...end),
      vector(...strides),
      i32Scalar(masks.begin ?? 0),
      i32Scalar(masks.end ?? 0),
      i32Scalar(masks.shrink ?? 0),
    ]);

  it("takes every stride-th element", () => {
    expect(valuesOf(sliced(makeCounting(6), [1], [6], [2]))).toEqual([2, 4, 6]);
    expect(valuesOf(sliced(makeCounting(6), [1], [5], [2]))).toEqual([2, 4]);
    const output = sliced(makeCounting(2, 4), [0, 0], [2, 4], [1, 3]);
    expect(output.dimensions).toEqual([2, 2]);
    expect(valuesOf(output)).toEqual([1, 4, 5, 8]);
  });

  it("goes backwards if the stride is negative", () => {
    expect(valuesOf(sliced(makeCounting(4), [3], [0], [-1]))).toEqual([4, 3, 2]);
    expect(valuesOf(sliced(makeCounting(4), [3], [-5], [-1]))).toEqual([4, 3, 2, 1]);
    expect(valuesOf(sliced(makeCounting(4), [9], [0], [-2]))).toEqual([4, 2]);
  });

  it("counts negative places from the end, and stops at the borders", () => {
    expect(valuesOf(sliced(makeCounting(4), [-3], [-1], [1]))).toEqual([2, 3]);
    expect(valuesOf(sliced(makeCounting(4), [-9], [9], [1]))).toEqual([1, 2, 3, 4]);
    expect(sliced(makeCounting(4), [3], [1], [1]).dimensions).toEqual([0]);
    expect(sliced(makeCounting(4), [1], [3], [-1]).dimensions).toEqual([0]);
  });

  it("ignores places whose mask bit is set", () => {
    const rows = makeCounting(2, 3);
    expect(valuesOf(sliced(rows, [9, 1], [2, 2], [1, 1], { begin: 1 }))).toEqual([2, 5]);
    expect(valuesOf(sliced(rows, [0, 1], [2, 0], [1, 1], { end: 2 }))).toEqual([2, 3, 5, 6]);
    expect(valuesOf(sliced(makeCounting(3), [0], [0], [-1], { begin: 1, end: 1 }))).toEqual([3, 2, 1]);
  });

  it("removes axes whose shrink bit is set", () => {
    const rows = makeCounting(2, 3);
    const row = sliced(rows, [1, 0], [2, 3], [1, 1], { shrink: 1 });
    expect(row.dimensions).toEqual([3]);
    expect(valuesOf(row)).toEqual([4, 5, 6]);
    const element = sliced(rows, [1, 2], [2, 3], [1, 1], { shrink: 3 });
    expect(element.dimensions).toEqual([1]);
    expect(valuesOf(element)).toEqual([6]);
  });

  it("takes what a loop from begin to end takes", () => {
    const place = fc.integer({ min: -6, max: 6 });
    const stride = fc.integer({ min: -3, max: 3 }).filter((step) => step !== 0);
    const axis = fc.record({ extent: fc.integer({ min: 0, max: 4 }), begin: place, end: place, stride });
    fc.assert(
      fc.property(fc.array(axis, { minLength: 1, maxLength: 4 }), (axes) => {
        const input = makeCounting(...axes.map(({ extent }) => extent));
        const output = sliced(
          input,
          axes.map(({ begin }) => begin),
          axes.map(({ end }) => end),
          axes.map((one) => one.stride),
        );
        let expected = [0];
        const shape = axes.map((one) => {
          const from = one.begin < 0 ? one.begin + one.extent : one.begin;
          const to = one.end < 0 ? one.end + one.extent : one.end;
          const places: number[] = [];
          const forward = one.stride > 0;
          let at = forward ? Math.max(from, 0) : Math.min(from, one.extent - 1);
          for (; forward ? at < to && at < one.extent : at > to && at >= 0; at += one.stride) places.push(at);
          expected = expected.flatMap((index) => places.map((other) => index * one.extent + other));
          return places.length;
        });
        expect(output.dimensions).toEqual(shape);
        expect(valuesOf(output)).toEqual(expected.map((index) => input.data[index]));
      }),
    );
  });

  it("keeps scale and zero point", () => {
    const output = sliced(q8s([3], 0.5, -4, [1, 2, 3]), [2], [-4], [-1]);
    expect(output).toMatchObject({ scale: 0.5, zeroPoint: -4 });
    expect(valuesOf(output)).toEqual([3, 2, 1]);
  });

  it("refuses strides of 0, and shrunk axes that are not one element forwards", () => {
    expect(() => sliced(makeCounting(3), [0], [1], [0])).toThrow("the stride of axis 0 is 0");
    const shrink = { shrink: 1 };
    expect(() => sliced(makeCounting(3), [1], [0], [-1], shrink)).toThrow("expected a number > 0, got -1");
    expect(() => sliced(makeCounting(3), [0], [2], [1], shrink)).toThrow("removed axis 0: expected 1 element, got 2");
    expect(() => sliced(makeCounting(3), [3], [3], [1], shrink)).toThrow("removed axis 0: expected 1 element, got 0");
  });

  it("refuses lists that have not one place for each axis, and ranks above 4", () => {
    expect(() => sliced(makeCounting(3), [0, 0], [1], [1])).toThrow("begin: expected 1 elements (the rank), got 2");
    expect(() => sliced(makeCounting(3), [0], [1, 1], [1])).toThrow("end: expected 1 elements (the rank), got 2");
    expect(() => sliced(makeCounting(3), [0], [1], [])).toThrow("strides: expected 1 elements (the rank), got 0");
    const five = [0, 0, 0, 0, 0];
    expect(() => sliced(f32([1, 1, 1, 1, 1]), five, five, five)).toThrow("input: expected rank 1 to 4, got 5");
  });

  it("takes the HAL's types", () => {
    const masks = [i32Scalar(0), i32Scalar(0), i32Scalar(0)];
    const inputs = (type: OperandTypeName) => [tensorOf(type, [1]), vector(0), vector(1), vector(1), ...masks];
    expectTypes(stridedSlice, floatAndQuant8Versions("1.1"), inputs, declaredLike);
  });
});

describe("SPLIT", () => {
  const parts = (input: Given, axis: number, count: number, outputs = count) =>
    runOperation(split, [input, i32Scalar(axis), i32Scalar(count)], {
      outputs: Array.from({ length: outputs }, () => declareOutput(input.type, input)).map((one) => ({
        ...one,
        dimensions: [],
      })),
    });

  it("cuts equal parts along an axis", () => {
    const rows = parts(makeCounting(4, 2), 0, 2);
    expect(rows.map(valuesOf)).toEqual([
      [1, 2, 3, 4],
      [5, 6, 7, 8],
    ]);
    const columns = parts(makeCounting(2, 4), -1, 4);
    expect(columns.map(valuesOf)).toEqual([
      [1, 5],
      [2, 6],
      [3, 7],
      [4, 8],
    ]);
    expect(columns[3].dimensions).toEqual([2, 1]);
  });

  it("keeps scale and zero point, and cuts nothing into nothings", () => {
    const [first, second] = parts(q8([2], 0.5, 3, [1, 2]), 0, 2);
    expect(first).toMatchObject({ dimensions: [1], scale: 0.5, zeroPoint: 3 });
    expect(valuesOf(second)).toEqual([2]);
    expect(parts(f32([0, 3]), 0, 2).map(({ dimensions }) => dimensions)).toEqual([
      [0, 3],
      [0, 3],
    ]);
  });

  it("refuses counts that do not divide the axis or are not the number of outputs, and axes outside", () => {
    expect(() => parts(makeCounting(4), 0, 3)).toThrow("axis 0 has extent 4, not a multiple of 3");
    expect(() => parts(makeCounting(4), 0, 2, 1)).toThrow("the count is 2, but there are 1 outputs");
    expect(() => parts(makeCounting(4), 0, 0, 1)).toThrow("the count is 0, but there are 1 outputs");
    expect(() => parts(makeCounting(4), 1, 2)).toThrow("axis 1 is outside [-1, 1)");
    expect(() => parts(makeCounting(4), -2, 2)).toThrow("axis -2 is outside [-1, 1)");
  });

  it("takes the HAL's types", () => {
    const inputs = (type: OperandTypeName) => [tensorOf(type, [1]), i32Scalar(0), i32Scalar(1)];
    expectTypes(split, floatIntegerAndQuant8Versions, inputs, declaredLike);
  });
});

describe("CONCATENATION", () => {
  it("joins along an axis", () => {
    const rows = runForOne(concatenation, [makeCounting(1, 2), makeCounting(2, 2), i32Scalar(0)]);
    expect(rows.dimensions).toEqual([3, 2]);
    expect(valuesOf(rows)).toEqual([1, 2, 1, 2, 3, 4]);
    const columns = runForOne(concatenation, [makeCounting(2, 1), makeCounting(2, 2), i32Scalar(1)]);
    expect(columns.dimensions).toEqual([2, 3]);
    expect(valuesOf(columns)).toEqual([1, 1, 2, 2, 3, 4]);
    expect(valuesOf(runForOne(concatenation, [makeCounting(2), i32Scalar(0)]))).toEqual([1, 2]);
  });

  it("is undone by SPLIT", () => {
    const small = fc.integer({ min: 1, max: 3 });
    fc.assert(
      fc.property(small, small, small, small, fc.nat(2), (a, b, c, count, axis) => {
        const shape = [a, b, c];
        const inputs = Array.from({ length: count }, (_, part) =>
          f32(
            shape,
            upTo(a * b * c).map((value) => value * count + part),
          ),
        );
        const joined = runForOne(concatenation, [...inputs, i32Scalar(axis)]);
        const outputs = runOperation(split, [{ ...joined }, i32Scalar(axis), i32Scalar(count)], {
          outputs: inputs.map(() => declareOutput("TENSOR_FLOAT32")),
        });
        expect(outputs.map(valuesOf)).toEqual(inputs.map(valuesOf));
      }),
    );
  });

  it("requantises inputs to the output's scale and zero point", () => {
    // Real values: 0.5·(3−1) = 1 and 2·(9−10) = −2; stored again at scale 0.25, zero point 20.
    const inputs = [q8([1], 0.5, 1, [3]), q8([1], 2, 10, [9]), i32Scalar(0)];
    const to = (scale: number, zeroPoint: number) => declareOutput("TENSOR_QUANT8_ASYMM", { scale, zeroPoint });
    const output = runForOne(concatenation, inputs, to(0.25, 20));
    expect(valuesOf(output)).toEqual([24, 12]);
    expect(output).toMatchObject({ scale: 0.25, zeroPoint: 20 });
    // 1 / 0.0625 + 250 and −2 / 0.0625 + 5 are outside a byte.
    expect(valuesOf(runForOne(concatenation, inputs, to(0.0625, 250)))).toEqual([255, 218]);
    expect(valuesOf(runForOne(concatenation, inputs, to(0.0625, 5)))).toEqual([21, 0]);
    const signed = [q8s([1], 0.5, -127, [-125]), i32Scalar(0)];
    const signedOutput = declareOutput("TENSOR_QUANT8_ASYMM_SIGNED", { scale: 0.25, zeroPoint: -108 });
    expect(valuesOf(runForOne(concatenation, signed, signedOutput))).toEqual([-104]);
  });

  it("needs 1.2 if an input's quantisation is not the output's", () => {
    const output = declareOutput("TENSOR_QUANT8_ASYMM", { scale: 0.5, zeroPoint: 1 });
    const version = (scale: number, zeroPoint: number) =>
      versionOf(concatenation, [q8([1], 0.5, 1), q8([1], scale, zeroPoint), i32Scalar(0)], { outputs: [output] });
    expect(version(0.5, 1)).toBe("1.0");
    expect(version(0.25, 1)).toBe("1.2");
    expect(version(0.5, 2)).toBe("1.2");
  });

  it("joins tensors of no elements", () => {
    expect(valuesOf(runForOne(concatenation, [f32([0, 2]), makeCounting(1, 2), i32Scalar(0)]))).toEqual([1, 2]);
    expect(runForOne(concatenation, [f32([0, 2]), f32([0, 1]), i32Scalar(1)]).dimensions).toEqual([0, 3]);
  });

  it("refuses shapes that differ elsewhere, axes outside, and ranks above 4", () => {
    const join = (a: Given, b: Given, axis: number) => () => runForOne(concatenation, [a, b, i32Scalar(axis)]);
    expect(join(makeCounting(1, 2), makeCounting(1, 3), 0)).toThrow(
      "input 1 has shape 1x3, which differs from input 0's 1x2 in more than axis 0",
    );
    expect(join(makeCounting(2), makeCounting(1, 2), 0)).toThrow("input 1 has shape 1x2");
    expect(join(makeCounting(1, 2), makeCounting(1, 2), 2)).toThrow("axis 2 is outside [0, 2)");
    expect(join(makeCounting(1, 2), makeCounting(1, 2), -1)).toThrow("axis -1 is outside [0, 2)");
    expect(join(f32([1, 1, 1, 1, 1]), f32([1, 1, 1, 1, 1]), 0)).toThrow("inputs: expected rank 1 to 4, got 5");
  });

  it("takes the HAL's types, the same for all inputs", () => {
    const inputs = (type: OperandTypeName) => [tensorOf(type, [1]), tensorOf(type, [1]), i32Scalar(0)];
    expectTypes(concatenation, floatAndQuant8Versions("1.0"), inputs, declaredLike);
    expect(mismatchOf(concatenation, [f32([1]), q8([1], 1, 0), i32Scalar(0)])).toContain(
      "input 1 (inputs): expected TENSOR_FLOAT32, got TENSOR_QUANT8_ASYMM",
    );
    expect(mismatchOf(concatenation, [i32Scalar(0)])).toContain("1 inputs");
  });
});
