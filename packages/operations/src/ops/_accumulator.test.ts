import { describe, expect, it } from "vitest";
import type { OutputTensor } from "../tensor.ts";
import { accumulatorStore, biasOf, needsFreeOutputScale } from "./_accumulator.ts";
import { declareOutput, f32, i32, q8, q8PerChannel, tensorOf } from "./_run.test-helper.ts";

const unsigned = (scale: number, zeroPoint: number): OutputTensor =>
  tensorOf("TENSOR_QUANT8_ASYMM", [4], undefined, { scale, zeroPoint });

describe("accumulatorStore", () => {
  const input = q8([1], 0.5, 0);
  const filter = q8([1], 0.25, 0);

  it("stores some channels, at steps", () => {
    const output: OutputTensor = f32([8]);
    const store = accumulatorStore(f32([1]), f32([1]), f32([4]), output, 0);
    store(Float64Array.of(1, 2, 3, 4), 1, 3, 2, 2);
    expect(Array.from(output.data)).toEqual([0, 0, 0, 0, 2, 0, 3, 0]);
  });

  it("clamps floats to the activation's bounds", () => {
    const output: OutputTensor = f32([4]);
    accumulatorStore(f32([1]), f32([1]), f32([4]), output, 3)(Float64Array.of(-1, 0.5, 6, 7), 0, 4, 0, 1);
    expect(Array.from(output.data)).toEqual([0, 0.5, 6, 6]);
  });

  it("rescales to the output's steps, halves to the even one", () => {
    const output = unsigned(1, 100);
    const store = accumulatorStore(input, filter, i32([4], undefined, 0.125), output, 0);
    store(Float64Array.of(8, 4, 12, -4), 0, 4, 0, 1);
    expect(Array.from(output.data)).toEqual([101, 100, 102, 100]);
    store(Float64Array.of(5, -5, -12, 11), 0, 4, 0, 1);
    expect(Array.from(output.data)).toEqual([101, 99, 98, 101]);
  });

  it("clamps to the type's range, and to the activation's", () => {
    const output = unsigned(1, 100);
    const bias = i32([4], undefined, 0.125);
    const sums = Float64Array.of(-(2 ** 40), 2 ** 40, 8 * 7, -8);
    accumulatorStore(input, filter, bias, output, 0)(sums, 0, 4, 0, 1);
    expect(Array.from(output.data)).toEqual([0, 255, 107, 99]);
    accumulatorStore(input, filter, bias, output, 3)(sums, 0, 4, 0, 1);
    expect(Array.from(output.data)).toEqual([100, 106, 106, 100]);
  });

  it("returns for each channel the scale of its filter", () => {
    const output = unsigned(1, 100);
    const filters = q8PerChannel([4], [2, 4, 6, 8], 0);
    accumulatorStore(input, filters, i32([4]), output, 0)(Float64Array.of(1, 1, 1, 1), 0, 4, 0, 1);
    expect(Array.from(output.data)).toEqual([101, 102, 103, 104]);
  });

  it("takes scales whose product overflows what the output can hold", () => {
    const output = unsigned(2 ** -20, 100);
    accumulatorStore(input, filter, i32([4], undefined, 0.125), output, 0)(Float64Array.of(0, 1, -1, 0), 0, 4, 0, 1);
    expect(Array.from(output.data)).toEqual([100, 255, 0, 100]);
  });

  it("wants the bias in units of the products, one scale per channel", () => {
    const run = (scale: number) => accumulatorStore(input, filter, i32([4], undefined, scale), unsigned(1, 0), 0);
    expect(() => run(0.1249)).toThrow("expected input scale * filter scale = 0.125, got");
    expect(() => run(0)).toThrow("the bias: expected input scale * filter scale = 0.125, got 0");
    expect(() => accumulatorStore(input, q8PerChannel([3], [1, 1, 1], 0), i32([4]), unsigned(1, 0), 0)).toThrow(
      "the filter has 3 scales for 4 channels",
    );
  });
});

it("biasOf returns the bias as float64", () => {
  expect(biasOf(i32([2], [-(2 ** 31), 7], 0.5))).toEqual(Float64Array.of(-(2 ** 31), 7));
});

it("needsFreeOutputScale compares the output's scale with the float32 product", () => {
  const [input, filter] = [q8([1], 0.1, 0), q8([1], 0.1, 0)];
  const product = Math.fround(input.scale * filter.scale);
  const needs = (scale: number) => needsFreeOutputScale(input, filter, declareOutput("TENSOR_QUANT8_ASYMM", { scale }));
  expect(needs(product)).toBe(true);
  expect(needs(product * (1 - 2 ** -22))).toBe(true);
  expect(needs(product * (1 + 2 ** -22))).toBe(false);
  expect(needsFreeOutputScale(f32([1]), f32([1]), declareOutput("TENSOR_FLOAT32"))).toBe(false);
});
