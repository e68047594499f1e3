/**
 * Operations that resample regions of interest: ROI_ALIGN and ROI_POOLING.
 */

import type { OperandTypeName } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import type { Operation } from "../define.ts";
import {
  boolScalar,
  declareOutput,
  expectClose,
  f16,
  f32,
  f32Scalar,
  type Given,
  i32,
  i32Scalar,
  inOrder,
  mismatchOf,
  type Named,
  q8,
  q8s,
  q16Asymm,
  runForOne,
  tensorOf,
  valuesOf,
  versionOf,
} from "./_run.test-helper.ts";
import { expectOneSignature } from "./_signature.test-helper.ts";
import { roiAlign } from "./roi-align.ts";
import { roiPooling } from "./roi-pooling.ts";

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);
const boxes = (...corners: number[]) => q16Asymm([corners.length / 4, 4], 0.125, 0, corners);

/**
 * Operands of the tests of both ROI_ALIGN and ROI_POOLING: a 4x4 map that counts from 0, and one region that covers it.
 */
const map: Named = {
  input: f32([1, 4, 4, 1], upTo(16)),
  regions: f32([1, 4], [0, 0, 4, 4]),
  batches: i32([1], [0]),
  outputHeight: i32Scalar(2),
  outputWidth: i32Scalar(2),
  heightStride: f32Scalar(1),
  widthStride: f32Scalar(1),
};
const alignMap: Named = { ...map, heightSamples: i32Scalar(2), widthSamples: i32Scalar(2), nchw: boolScalar(false) };
const poolMap: Named = { ...map, nchw: boolScalar(false) };

describe("ROI_ALIGN", () => {
  const run = (changes: Named = {}) => valuesOf(runForOne(roiAlign, inOrder(alignMap, changes)));
  // Samples stand at 0.5 and 1.5, and at 2.5 and 3.5; the last is cut off at 3, the map's last pixel.
  const expected = [1 * 4 + 1, 1 * 4 + 2.75, 2.75 * 4 + 1, 2.75 * 4 + 2.75];

  it("is the mean of bilinear samples in each bin", () => expectClose(run(), expected));

  it("takes a sample for each pixel begun if no number is given", () => {
    expectClose(run({ heightSamples: i32Scalar(0), widthSamples: i32Scalar(0) }), expected);
    // A bin of 1.5 pixels has two samples, at 0.375 and 1.125, and at 1.875 and 2.625.
    const changes = { regions: f32([1, 4], [0, 0, 3, 3]), heightSamples: i32Scalar(0), widthSamples: i32Scalar(0) };
    expectClose(run(changes), [3.75, 5.25, 9.75, 11.25]);
  });

  it("takes different numbers of samples", () => {
    // One sample of 4 pixels' width at 2; four of height at 0.5, 1.5, 2.5, and 3.
    const one = { outputHeight: i32Scalar(1), outputWidth: i32Scalar(1) };
    expectClose(run({ ...one, heightSamples: i32Scalar(4), widthSamples: i32Scalar(1) }), [1.875 * 4 + 2]);
  });

  it("divides by the strides", () => {
    const strides = { heightStride: f32Scalar(2), widthStride: f32Scalar(4) };
    expectClose(run({ ...strides, regions: f32([1, 4], [0, 0, 16, 8]) }), expected);
  });

  it("widens a region to one pixel", () => {
    const changes = { regions: f32([1, 4], [1, 1, 1, 1]), outputHeight: i32Scalar(1), outputWidth: i32Scalar(1) };
    expectClose(run({ ...changes, heightSamples: i32Scalar(1), widthSamples: i32Scalar(1) }), [1.5 * 4 + 1.5]);
  });

  it("takes channels first, several regions and batches", () => {
    const values = [...upTo(16), ...upTo(16).map((value) => 100 + value)];
    const changes = {
      regions: f32([2, 4], [0, 0, 4, 4, 0, 0, 4, 4]),
      batches: i32([2], [1, 0]),
      nchw: boolScalar(true),
    };
    const ofBatches = run({ ...changes, input: f32([2, 1, 4, 4], values) });
    expectClose(ofBatches, [...expected.map((value) => 100 + value), ...expected], 1e-4);
    const channels = runForOne(
      roiAlign,
      inOrder(alignMap, { input: f32([1, 2, 4, 4], values), nchw: boolScalar(true) }),
    );
    expect(channels.dimensions).toEqual([1, 2, 2, 2]);
    expectClose(valuesOf(channels), [...expected, ...expected.map((value) => 100 + value)], 1e-4);
  });

  it("of quantised elements is rounded to the output's scale", () => {
    const quantised = {
      input: q8(
        [1, 4, 4, 1],
        0.5,
        10,
        upTo(16).map((value) => 10 + 2 * value),
      ),
      regions: boxes(0, 0, 32, 32),
    };
    const output = declareOutput("TENSOR_QUANT8_ASYMM", { scale: 0.25, zeroPoint: 3 });
    const result = runForOne(roiAlign, inOrder(alignMap, quantised), output);
    expect(valuesOf(result)).toEqual(expected.map((value) => 3 + 4 * value));
    const signed = {
      ...quantised,
      input: q8s(
        [1, 4, 4, 1],
        0.5,
        -118,
        upTo(16).map((value) => 2 * value - 118),
      ),
    };
    const signedOutput = declareOutput("TENSOR_QUANT8_ASYMM_SIGNED", { scale: 0.25, zeroPoint: -125 });
    expect(valuesOf(runForOne(roiAlign, inOrder(alignMap, signed), signedOutput))).toEqual(
      expected.map((value) => 4 * value - 125),
    );
  });

  it.each(["heightSamples", "widthSamples"])("refuses a negative number of %s", (name) => {
    expect(() => run({ [name]: i32Scalar(-1) })).toThrow("the sampling ratio: expected a number ≥ 0, got -1");
  });
});

describe("ROI_POOLING", () => {
  const run = (changes: Named = {}) => valuesOf(runForOne(roiPooling, inOrder(poolMap, changes)));

  it("is the greatest element of each bin; both corners belong to the region", () => {
    expect(run({ regions: f32([1, 4], [0, 0, 3, 3]) })).toEqual([5, 7, 13, 15]);
    expect(run({ regions: f32([1, 4], [1, 0, 2, 1]) })).toEqual([1, 2, 5, 6]);
  });

  it("rounds corners to pixels", () => {
    expect(run({ regions: f32([1, 4], [0.4, 0.4, 2.5, 2.5]) })).toEqual([5, 7, 13, 15]);
    expect(run({ regions: f32([1, 4], [0.5, 0.5, 2.4, 2.4]) })).toEqual([5, 6, 9, 10]);
  });

  it("lets bins overlap if the region's size is not a multiple of theirs", () => {
    // Three pixels, two bins: 0 to 1 and 1 to 2.
    const input = f32(
      [1, 4, 4, 1],
      upTo(16).map((value) => 100 - value),
    );
    expect(run({ regions: f32([1, 4], [0, 0, 2, 2]), input })).toEqual([100, 99, 96, 95]);
  });

  it("of negative elements is the greatest of them, and of none is 0", () => {
    const one = { outputHeight: i32Scalar(1), outputWidth: i32Scalar(1) };
    const negative = f32(
      [1, 4, 4, 1],
      upTo(16).map((value) => value - 20),
    );
    expect(run({ ...one, input: negative })).toEqual([-5]);
    expect(run({ ...one, input: negative, regions: f32([1, 4], [4, 4, 4, 4]) })).toEqual([0]);
  });

  it("of quantised elements has their scale; none are the zero point", () => {
    const regions = boxes(0, 0, 24, 24, 32, 32, 32, 32);
    for (const [build, zeroPoint, type] of [
      [q8, 7, "TENSOR_QUANT8_ASYMM"],
      [q8s, -7, "TENSOR_QUANT8_ASYMM_SIGNED"],
    ] as const) {
      const input = build([1, 4, 4, 1], 0.5, zeroPoint, upTo(16));
      const changes = { input, regions, batches: i32([2], [0, 0]) };
      const result = runForOne(roiPooling, inOrder(poolMap, changes), declareOutput(type, { scale: 0.5, zeroPoint }));
      expect(valuesOf(result)).toEqual([5, 7, 13, 15, ...new Array(4).fill(zeroPoint)]);
      expect(result).toMatchObject({ scale: 0.5, zeroPoint });
    }
  });

  it("takes channels first, strides, several batches and channels", () => {
    const input = f32([2, 2, 4, 4], upTo(64));
    const changes = { input, nchw: boolScalar(true), regions: f32([1, 4], [0, 0, 12, 6]), batches: i32([1], [1]) };
    const result = runForOne(
      roiPooling,
      inOrder(poolMap, { ...changes, heightStride: f32Scalar(2), widthStride: f32Scalar(4) }),
    );
    expect(result.dimensions).toEqual([1, 2, 2, 2]);
    expect(valuesOf(result)).toEqual([5, 7, 13, 15, 21, 23, 29, 31].map((value) => 32 + value));
  });
});

describe.each<[string, Operation, Named]>([
  ["ROI_ALIGN", roiAlign, alignMap],
  ["ROI_POOLING", roiPooling, poolMap],
])("%s's rules", (_, operation, inputs) => {
  const run = (changes: Named) => () => runForOne(operation, inOrder(inputs, changes));

  it.each(["outputHeight", "outputWidth"])("%s is at least 1", (name) => {
    for (const value of [0, -1])
      expect(run({ [name]: i32Scalar(value) })).toThrow(`${name}: expected a number > 0, got ${value}`);
    expect(run({ [name]: i32Scalar(1) })).not.toThrow();
  });

  it.each(["heightStride", "widthStride"])("%s is above 0", (name) => {
    for (const value of [0, -1, Number.NaN])
      expect(run({ [name]: f32Scalar(value) })).toThrow(`${name}: expected a number > 0, got ${value}`);
  });

  it("a batch index names a batch", () => {
    for (const value of [-1, 1])
      expect(run({ batches: i32([1], [value]) })).toThrow(`batch index ${value} is outside [0, 1)`);
  });

  it("regions lie in the map, their first corner first", () => {
    const region = (...corners: number[]) => run({ regions: f32([1, 4], corners) });
    for (const corners of [
      [4, 4, 4, 4],
      [0, 0, 0, 0],
    ])
      expect(region(...corners)).not.toThrow();
    for (const corners of [
      [-0.1, 0, 4, 4],
      [0, -0.1, 4, 4],
      [0, 0, 4.1, 4],
      [0, 0, 4, 4.1],
    ]) {
      expect(region(...corners)).toThrow("region 0 spans");
    }
    expect(region(2, 0, 1, 4)).toThrow("box 0 ends before it begins: 2, 0, 1, 4");
    expect(region(0, 2, 4, 1)).toThrow("box 0 ends before it begins: 0, 2, 4, 1");
    expect(region(Number.NaN, 0, 4, 4)).toThrow("box 0 ends before it begins");
  });

  it("shapes fit", () => {
    expect(run({ regions: f32([1, 5]) })).toThrow("the shape of the regions");
    expect(run({ batches: i32([2]) })).toThrow("the shape of the batch indexes");
    expect(run({ input: f32([1, 0, 4, 1]) })).toThrow("the feature map has no elements");
    expect(run({ input: f32([4, 4, 1]) })).toThrow("input: expected rank 4, got 3");
    const none = runForOne(operation, inOrder(inputs, { regions: f32([0, 4]), batches: i32([0]) }));
    expect(none.dimensions).toEqual([0, 2, 2, 1]);
  });

  it("quantised regions have scale 1/8 and zero point 0", () => {
    const input = q8([1, 4, 4, 1], 1, 0, upTo(16));
    expect(run({ input, regions: boxes(0, 0, 8, 8) })).not.toThrow();
    expect(run({ input, regions: q16Asymm([1, 4], 0.25, 0) })).toThrow(
      "the regions: expected scale 0.125 and zero point 0, got 0.25 and 0",
    );
    expect(run({ input, regions: q16Asymm([1, 4], 0.125, 1) })).toThrow(
      "expected scale 0.125 and zero point 0, got 0.125 and 1",
    );
  });

  it("signatures", () => {
    const list = inOrder(inputs);
    expectOneSignature(operation, list, [f32([1])]);
    const with16 = list.map((given) =>
      given.type === "TENSOR_FLOAT32" ? f16([1]) : given.type === "FLOAT32" ? tensorOf("FLOAT16", [], [1]) : given,
    );
    const quantise = (type: OperandTypeName) =>
      inOrder(inputs, { input: tensorOf(type, [1, 4, 4, 1]), regions: boxes(0, 0, 8, 8) });
    const version = (given: readonly Given[]) => versionOf(operation, given);
    expect(version(list)).toBe("1.2");
    expect(version(with16)).toBe("1.2");
    expect(version(quantise("TENSOR_QUANT8_ASYMM"))).toBe("1.2");
    expect(version(quantise("TENSOR_QUANT8_ASYMM_SIGNED"))).toBe("1.3");
    for (const type of ["TENSOR_INT32", "TENSOR_QUANT16_ASYMM", "TENSOR_QUANT8_SYMM"] as const) {
      expect(mismatchOf(operation, quantise(type)), type).toContain(`got ${type}`);
    }
  });
});
