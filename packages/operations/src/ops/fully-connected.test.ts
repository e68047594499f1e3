/**
 * FULLY_CONNECTED: cases worked out by hand, random ones against the formula, and each rule.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fillTensor, numbers, seeds } from "./_image.test-helper.ts";
import {
  declareOutput,
  f16,
  f32,
  i32,
  i32Scalar,
  mismatchOf,
  q8,
  q8s,
  runForOne,
  valuesOf,
  versionOf,
} from "./_run.test-helper.ts";
import { fullyConnected } from "./fully-connected.ts";

const none = i32Scalar(0);
const input = f32([2, 3], [1, 2, 3, 4, 5, 6]);
const weights = f32([2, 3], [1, 10, 100, -1, 0, 1]);
const bias = f32([2], [0.5, 0]);
const output = declareOutput("TENSOR_QUANT8_ASYMM", { scale: 1, zeroPoint: 5 });

describe("FULLY_CONNECTED", () => {
  it("multiplies each row with the weights of each unit", () => {
    const result = runForOne(fullyConnected, [input, weights, bias, none]);
    expect(result.dimensions).toEqual([2, 2]);
    expect(valuesOf(result)).toEqual([321.5, 2, 654.5, 2]);
  });

  it("cuts inputs of any shape into rows", () => {
    const shaped = f32([1, 2, 1, 3], valuesOf(input));
    expect(valuesOf(runForOne(fullyConnected, [shaped, weights, bias, none]))).toEqual([321.5, 2, 654.5, 2]);
    expect(runForOne(fullyConnected, [f32([3, 2]), weights, bias, none]).dimensions).toEqual([2, 2]);
    expect(runForOne(fullyConnected, [f32([0, 3]), weights, bias, none]).dimensions).toEqual([0, 2]);
  });

  it("applies the activation", () => {
    const values = (activation: number) =>
      valuesOf(
        runForOne(fullyConnected, [f32([1, 1], [3]), f32([3, 1], [-1, 0.5, 3]), f32([3]), i32Scalar(activation)]),
      );
    expect(values(1)).toEqual([0, 1.5, 9]);
    expect(values(2)).toEqual([-1, 1, 1]);
    expect(values(3)).toEqual([0, 1.5, 6]);
    expect(() => values(7)).toThrow("activation 7 is none of");
  });

  it("takes zero points away, rescales and clamps", () => {
    const quantised = [
      q8([1, 2], 0.5, 10, [14, 8]),
      q8([3, 2], 0.5, 2, [6, 2, 2, 1, 255, 0]),
      i32([3], [4, 0, 0], 0.25),
    ];
    expect(valuesOf(runForOne(fullyConnected, [...quantised, none], output))).toEqual([10, 5, 255]);
    const signed = [q8s([1, 2], 0.5, -118, [-114, -120]), q8s([3, 2], 0.5, -126, [-122, -126, -126, -127, 127, -128])];
    const signedOutput = declareOutput("TENSOR_QUANT8_ASYMM_SIGNED", { scale: 1, zeroPoint: -123 });
    expect(valuesOf(runForOne(fullyConnected, [...signed, quantised[2], none], signedOutput))).toEqual([
      -118, -123, 127,
    ]);
  });

  it("agrees with the formula", () => {
    const extents = fc.tuple(
      fc.integer({ min: 0, max: 3 }),
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 1, max: 9 }),
    );
    fc.assert(
      fc.property(extents, seeds, ([batches, units, size], seed) => {
        const next = numbers(seed);
        const [x, w, b] = [[batches, size], [units, size], [units]].map((shape) =>
          fillTensor("TENSOR_FLOAT32", shape, next),
        );
        const wanted = Array.from({ length: batches * units }, (_, index) => {
          const [row, unit] = [Math.floor(index / units), index % units];
          let sum = b.data[unit];
          for (let i = 0; i < size; i++) sum += x.data[row * size + i] * w.data[unit * size + i];
          return sum;
        });
        expect(valuesOf(runForOne(fullyConnected, [x, w, b, none]))).toEqual(wanted);
      }),
    );
  });

  it("computes all units if they take several pieces of work", () => {
    const [size, units] = [4096, 600];
    const result = runForOne(fullyConnected, [
      f32(
        [2, size],
        Array.from({ length: 2 * size }, (_, index) => (index < size ? 1 : 2)),
      ),
      f32(
        [units, size],
        Array.from({ length: units * size }, (_, index) => Math.floor(index / size)),
      ),
      f32(
        [units],
        Array.from({ length: units }, (_, unit) => unit % 7),
      ),
      none,
    ]);
    expect(valuesOf(result)).toEqual(
      Array.from({ length: 2 * units }, (_, index) => {
        const unit = index % units;
        return size * (index < units ? 1 : 2) * unit + (unit % 7);
      }),
    );
  });

  it("takes the HAL's types, each from its version on", () => {
    expect(versionOf(fullyConnected, [input, weights, bias, none])).toBe("1.0");
    expect(versionOf(fullyConnected, [f16([1, 2]), f16([1, 2]), f16([1]), none])).toBe("1.2");
    const quantised = [q8([1, 2], 0.5, 0), q8([1, 2], 0.25, 0), i32([1], [0], 0.125), none];
    const version = (scale: number) =>
      versionOf(fullyConnected, quantised, { outputs: [declareOutput("TENSOR_QUANT8_ASYMM", { scale })] });
    expect(version(0.1251)).toBe("1.0");
    expect(version(0.125)).toBe("1.2");
    expect(versionOf(fullyConnected, [q8s([1, 2], 0.5, 0), q8s([1, 2], 0.25, 0), i32([1], [0], 0.125), none])).toBe(
      "1.3",
    );
    expect(mismatchOf(fullyConnected, [input, f16([1, 2]), bias, none])).toContain("(weights)");
    expect(mismatchOf(fullyConnected, [input, weights, i32([1]), none])).toContain("(bias)");
    expect(mismatchOf(fullyConnected, [input, weights, bias])).toContain(
      "expected 4 inputs and 1 outputs, got 3 inputs and 1 outputs",
    );
  });

  it.each([
    ["input: expected rank 2 to 4, got 1", [f32([3]), weights, bias]],
    ["input: expected rank 2 to 4, got 5", [f32([1, 1, 1, 1, 3]), weights, bias]],
    ["weights: expected rank 2, got 3", [input, f32([1, 2, 3]), bias]],
    ["bias: expected rank 1, got 2", [input, weights, f32([1, 2])]],
    ["the input has shape 2x2, which is not made of rows of 3", [f32([2, 2]), weights, bias]],
    ["the shape of the bias: expected 2, got 3", [input, weights, f32([3])]],
    ["the weights have no inputs", [f32([2, 0]), f32([2, 0]), bias]],
    ["the filter has no output channels", [input, f32([0, 3]), f32([0])]],
  ] as const)("says that %s", (message, operands) => {
    expect(() => runForOne(fullyConnected, [...operands, none])).toThrow(message);
  });

  it("wants the bias in units of the products", () => {
    const run = (scale: number) =>
      runForOne(fullyConnected, [q8([1, 2], 0.5, 0), q8([1, 2], 0.25, 0), i32([1], [0], scale), none], output);
    expect(valuesOf(run(0.125))).toEqual([5]);
    expect(() => run(0.13)).toThrow("expected input scale * filter scale = 0.125, got");
  });
});
