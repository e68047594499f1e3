import { describe, expect, it } from "vitest";
import { type Bound, boundOf, type Compared, defaultAllowance, type JudgedOperation } from "./allowance.ts";
import { addDifferences, compareTensors, sizesOf } from "./difference.ts";
import type { TensorValue } from "./prepared-part.ts";

const bytes = (...elements: number[]): TensorValue => ({
  bytes: Uint8Array.from(elements),
  dimensions: [elements.length],
});
const floats = (...elements: number[]): TensorValue => ({
  bytes: new Uint8Array(Float32Array.from(elements).buffer),
  dimensions: [elements.length],
});
const quantised: Compared = { type: "TENSOR_QUANT8_ASYMM", scale: 0.5, zeroPoint: 10, isRelaxed: false };
const float: Compared = { type: "TENSOR_FLOAT32", scale: 0, zeroPoint: 0, isRelaxed: false };
const bound =
  (absolute: number, relative = 0): (() => Bound) =>
  () => ({ absolute, relative, bias: 0.25 });
const compareBytes = (expected: readonly number[], actual: readonly number[], allowed = 1) =>
  compareTensors(quantised, bytes(...expected), bytes(...actual), bound(allowed));
const compareFloats = (expected: readonly number[], actual: readonly number[], allowed = bound(0.5)) =>
  compareTensors(float, floats(...expected), floats(...actual), allowed);

describe("the difference of quantised tensors", () => {
  it("is none of equal ones", () => {
    expect(compareBytes([10, 20, 255], [10, 20, 255])).toMatchObject({
      count: 3,
      differing: 0,
      largest: 0,
      worst: undefined,
      mean: 0,
      signalToNoise: Number.POSITIVE_INFINITY,
      excess: 0,
    });
  });

  it("is in steps and in real numbers", () => {
    const found = compareBytes([10, 20, 30, 40], [10, 18, 31, 40], 2);
    expect(found).toMatchObject({
      differing: 2,
      largest: 2,
      largestReal: 1,
      worst: { element: 1, expected: 5, actual: 4 },
      mean: -0.25,
      meanMagnitude: 0.75,
      step: 0.5,
      excess: 1,
    });
    // Signals 0, 5, 10, 15; noises 1 and 0.5.
    expect(found.signalToNoise).toBeCloseTo(10 * Math.log10(350 / 1.25), 9);
    expect(found.cosine).toBeCloseTo((5 * 4 + 10 * 10.5 + 15 * 15) / Math.sqrt(350 * (16 + 110.25 + 225)), 9);
  });

  it("has the shares at the ends of the type, and ranges", () => {
    expect(compareBytes([0, 255, 255, 100], [1, 255, 254, 100])).toMatchObject({
      saturatedExpected: 0.75,
      saturatedActual: 0.25,
      expectedRange: { least: -5, greatest: 122.5 },
      actualRange: { least: -4.5, greatest: 122.5 },
      possibleRange: { least: -5, greatest: 122.5 },
    });
  });

  it("exceeds its bound one step beyond it", () => {
    expect(compareBytes([10], [11], 1).excess).toBe(1);
    expect(compareBytes([10], [12], 1).excess).toBe(2);
    expect(compareBytes([10], [11], 0).excess).toBe(Number.POSITIVE_INFINITY);
    expect(compareBytes([10], [10], 0).excess).toBe(0);
  });

  it("exceeds its bound if at least 64 elements are off in one direction", () => {
    const row = (count: number, off: (index: number) => number) =>
      compareBytes(
        Array.from({ length: count }, () => 100),
        Array.from({ length: count }, (_, index) => 100 + off(index)),
      );
    expect(row(64, () => -1).excess).toBe(4);
    expect(row(63, () => -1).excess).toBe(1);
    expect(row(64, (index) => (index % 2 === 0 ? 1 : -1)).excess).toBe(1);
    expect(row(64, (index) => (index % 4 === 0 ? 1 : 0)).excess).toBe(1);
  });
});

describe("the difference of float tensors", () => {
  it("is in units of the root mean square", () => {
    // Its unit in the last place is 2^-23 * 2.
    const found = compareFloats([3, 3, 3, 3], [3, 3 + 2 ** -20, 3, 3]);
    expect(found).toMatchObject({ step: 2 ** -22, largest: 4, largestReal: 2 ** -20, possibleRange: undefined });
  });

  it("exceeds absolute and relative bounds together", () => {
    expect(compareFloats([8], [9], bound(0.5, 0.0625)).excess).toBe(1);
    expect(compareFloats([8], [10], bound(0.5, 0.0625)).excess).toBe(2);
  });

  it("counts NaN and infinities that are not the same", () => {
    const { NaN: nan, POSITIVE_INFINITY: infinity } = Number;
    expect(compareFloats([nan, infinity, 1], [nan, infinity, 1])).toMatchObject({
      unusual: 0,
      excess: 0,
      differing: 0,
    });
    expect(compareFloats([nan, infinity, 1, 1], [0, -infinity, nan, 1])).toMatchObject({
      unusual: 3,
      unusualExpected: 2,
      unusualActual: 2,
      differing: 3,
      excess: infinity,
      worst: { element: 0, actual: 0 },
    });
  });

  it("is of float16, too", () => {
    const halves = (...bits: number[]) => ({
      bytes: new Uint8Array(Uint16Array.from(bits).buffer),
      dimensions: [bits.length],
    });
    // 1 and the number after it.
    const found = compareTensors({ ...float, type: "TENSOR_FLOAT16" }, halves(0x3c00), halves(0x3c01), bound(1));
    expect(found).toMatchObject({ isHalf: true, largest: 1, largestReal: 2 ** -10 });
  });
});

it("of another shape is nothing but that", () => {
  const found = compareTensors(float, floats(1, 2), { ...floats(1, 2), dimensions: [1, 2] }, bound(1));
  expect(found).toMatchObject({ otherShape: [1, 2], count: 0, excess: Number.POSITIVE_INFINITY });
});

it("adds up over runs as if the tensors were one", () => {
  const [first, second] = [compareBytes([10, 20], [11, 20]), compareBytes([30, 40], [30, 37])];
  const both = compareBytes([10, 20, 30, 40], [11, 20, 30, 37]);
  const { worst, ...sum } = addDifferences(first, second);
  const { worst: _, ...whole } = both;
  expect(sum).toEqual(whole);
  expect(worst).toEqual(second.worst);
  expect(addDifferences(second, first).worst).toEqual(second.worst);
});

describe("the bound of an operation", () => {
  const operand = (dimensions: readonly number[], size = 1) => ({ dimensions, rootMeanSquare: size, greatest: size });
  const of = (name: string, inputs: JudgedOperation["inputs"] = [], tensor = float) =>
    boundOf(tensor, 1, defaultAllowance, { name, inputs });

  it("of what only moves is none, except for a step where the scale changes", () => {
    expect(of("RESHAPE", [])).toMatchObject({ absolute: 0, relative: 0 });
    expect(of("RESHAPE", [], quantised)).toMatchObject({ absolute: 0 });
    expect(of("CONCATENATION", [], quantised)).toMatchObject({ absolute: 1 });
  });

  it("of one rounding is the unit in the last place", () => {
    expect(of("ADD", [])).toMatchObject({ relative: 2 ** -23 });
  });

  it("of a sum grows with its terms, which a depthwise filter has last", () => {
    const dense = of("CONV_2D", [operand([1, 4, 4, 8]), operand([1, 3, 3, 8])]);
    const depthwise = of("DEPTHWISE_CONV_2D", [operand([1, 4, 4, 8]), operand([1, 3, 3, 8])]);
    expect(dense.absolute / depthwise.absolute).toBeCloseTo(8 * Math.sqrt(8), 9);
  });

  it("of an unknown arithmetic, of several operations and of relaxed models follows from the type", () => {
    expect(of("SOFTMAX", [])).toMatchObject({ relative: 2 ** -12, absolute: 2 ** -12 });
    expect(boundOf(float, 1, defaultAllowance)).toMatchObject({ relative: 2 ** -12 });
    expect(of("ADD", [], { ...float, isRelaxed: true })).toMatchObject({ relative: 2 ** -7 });
  });

  it("is the caller's, if there is one", () => {
    const found = boundOf(float, 2, { ...defaultAllowance, relative: 0.5 }, { name: "ADD", inputs: [] });
    expect(found).toMatchObject({ absolute: 1, relative: 0.5 });
  });
});

it("knows the sizes of elements in real numbers", () => {
  expect(sizesOf(quantised, bytes(10, 16, 2))).toMatchObject({ greatest: 4, rootMeanSquare: Math.sqrt((9 + 16) / 3) });
});

describe("elements of an extension", () => {
  const complex = {
    ...{ name: "COMPLEX64", extension: "test", kind: "tensor", elementSize: 8, array: Float32Array },
  } as unknown as Parameters<typeof compareTensors>[0]["type"];
  const as = { type: complex, scale: 0, zeroPoint: 0, isRelaxed: false };
  const value = (...parts: number[]) => ({ bytes: new Uint8Array(Float32Array.from(parts).buffer), dimensions: [2] });
  const boundFor = (size: number) => boundOf(as, size, defaultAllowance, { name: "test FFT", inputs: [] });

  it("that are floats may be rounded otherwise, and are in real numbers", () => {
    const found = compareTensors(as, value(1, -2, 3, 4), value(1, -2, 3.0001, 4), boundFor);
    expect(found).toMatchObject({ isFloat: true, differing: 1, count: 4 });
    expect(found.largestReal).toBeCloseTo(1e-4, 6);
    expect(found.excess).toBeLessThan(1);
    expect(compareTensors(as, value(1, -2, 3, 4), value(1, -2, 3.01, 4), boundFor).excess).toBeGreaterThan(1);
  });

  it("that are integers must be equal", () => {
    const type = { ...(complex as object), array: Int32Array } as unknown as typeof complex;
    const integers = (...elements: number[]) => ({
      bytes: new Uint8Array(Int32Array.from(elements).buffer),
      dimensions: [1],
    });
    const own = { ...as, type };
    const bound = (size: number) => boundOf(own, size, defaultAllowance, { name: "test FFT", inputs: [] });
    expect(compareTensors(own, integers(1, 2), integers(1, 2), bound).excess).toBe(0);
    expect(compareTensors(own, integers(1, 2), integers(1, 3), bound).excess).toBe(Number.POSITIVE_INFINITY);
  });
});
