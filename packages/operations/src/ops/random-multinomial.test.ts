/**
 * RANDOM_MULTINOMIAL: what it draws follows the distribution it is given. Seeds are fixed, so no test is left to chance.
 */
import { describe, expect, it } from "vitest";
import {
  declareOutput,
  f16,
  f32,
  type Given,
  i32,
  i32Scalar,
  runOperation,
  tensorOf,
  valuesOf,
} from "./_run.test-helper.ts";
import { expectTypes } from "./_signature.test-helper.ts";
import { randomMultinomial } from "./random-multinomial.ts";

const outputs = [declareOutput("TENSOR_INT32")];
const none = Number.NEGATIVE_INFINITY;

function draw(input: Given, samples: number, seeds: readonly number[], random = () => 0.5) {
  return runOperation(randomMultinomial, [input, i32Scalar(samples), i32([seeds.length], seeds)], {
    outputs,
    random,
  })[0];
}

/** Pearson's χ² of draws against the probabilities of the classes. */
function chiSquare(draws: readonly number[], probabilities: readonly number[]): number {
  const counts = new Array<number>(probabilities.length).fill(0);
  for (const drawn of draws) counts[drawn]++;
  return probabilities.reduce((sum, probability, index) => {
    const expected = draws.length * probability;
    return sum + (counts[index] - expected) ** 2 / expected;
  }, 0);
}

/** Quantile of χ² that one in 10,000 samples exceeds, by degrees of freedom. */
const rarely = { 3: 21.11, 15: 44.26 };

describe("RANDOM_MULTINOMIAL", () => {
  const probabilities = [0.1, 0.2, 0.3, 0.4];
  // Logarithms count up to a common summand.
  const logits = f32(
    [1, 4],
    probabilities.map((probability) => Math.log(probability) + 5),
  );

  it.each([
    [1, 0],
    [0, 1],
    [37, 42],
    [-1, -1],
    [0x7fff_ffff, -0x8000_0000],
  ])("draws classes with the probabilities given, under seeds %i and %i", (...seeds) => {
    expect(chiSquare(valuesOf(draw(logits, 20_000, seeds)), probabilities)).toBeLessThan(rarely[3]);
  });

  it("draws each sample on its own", () => {
    const draws = valuesOf(draw(logits, 40_000, [3, 4]));
    const pairs = draws.slice(1).map((drawn, index) => 4 * draws[index] + drawn);
    const joint = probabilities.flatMap((first) => probabilities.map((second) => first * second));
    expect(chiSquare(pairs, joint)).toBeLessThan(rarely[15]);
  });

  it("draws each batch from its own row", () => {
    const output = draw(f32([3, 2], [0, none, none, 0, 100, 0]), 50, [1, 2]);
    expect(output.dimensions).toEqual([3, 50]);
    const rows = [0, 1, 2].map((batch) => new Set(output.data.subarray(50 * batch, 50 * (batch + 1))));
    expect(rows).toEqual([new Set([0]), new Set([1]), new Set([0])]);
    const same = draw(f32([2, 4], [...logits.data, ...logits.data]), 50, [1, 2]);
    expect(same.data.subarray(0, 50)).not.toEqual(same.data.subarray(50));
  });

  it("returns the same draws for the same seeds, and others for other seeds", () => {
    const drawn = (seeds: number[]) => valuesOf(draw(logits, 100, seeds));
    expect(drawn([5, 6])).toEqual(drawn([5, 6]));
    expect(drawn([5, 6])).not.toEqual(drawn([6, 5]));
    expect(drawn([5, 6])).not.toEqual(drawn([5, 7]));
    expect(drawn([5, 0])).not.toEqual(drawn([6, 0]));
  });

  it("takes random seeds if both are 0", () => {
    const drawn = (...numbers: number[]) => valuesOf(draw(logits, 100, [0, 0], () => numbers.shift() ?? 0));
    expect(drawn(0.25, 0.5)).toEqual(drawn(0.25, 0.5));
    expect(drawn(0.25, 0.5)).not.toEqual(drawn(0.25, 0.75));
    expect(drawn(0.25, 0.5)).not.toEqual(drawn(0.75, 0.5));
    expect(valuesOf(draw(logits, 100, [1, 0], () => 0.25))).toEqual(valuesOf(draw(logits, 100, [1, 0], () => 0.75)));
  });

  it("never draws classes whose logarithm is not finite, and survives great ones", () => {
    const nan = Number.NaN;
    const infinite = Number.POSITIVE_INFINITY;
    expect(new Set(valuesOf(draw(f32([1, 5], [nan, 3e38, infinite, 3e38, none]), 200, [1, 1])))).toEqual(
      new Set([1, 3]),
    );
    expect(() => draw(f32([2, 2], [0, 0, none, nan]), 1, [1, 1])).toThrow("no class of batch 1 has a finite logarithm");
    expect(() => draw(f32([1, 0]), 1, [1, 1])).toThrow("no class of batch 0");
  });

  it("takes float16", () => {
    const draws = valuesOf(draw(f16([1, 4], [0, 0, 0, 0]), 20_000, [7, 7]));
    expect(chiSquare(draws, [0.25, 0.25, 0.25, 0.25])).toBeLessThan(rarely[3]);
  });

  it("draws nothing from nothing", () => {
    expect(draw(logits, 0, [1, 1]).dimensions).toEqual([1, 0]);
    expect(draw(f32([0, 4]), 3, [1, 1]).dimensions).toEqual([0, 3]);
  });

  it("refuses other numbers of seeds, samples below 0 and other ranks", () => {
    expect(() => draw(logits, 1, [1])).toThrow("expected 2 seeds, got 1");
    expect(() => draw(logits, 1, [1, 2, 3])).toThrow("expected 2 seeds, got 3");
    expect(() => draw(logits, -1, [1, 2])).toThrow("the number of samples is -1, less than 0");
    expect(() => draw(f32([4]), 1, [1, 2])).toThrow("input: expected rank 2, got 1");
  });

  it("takes the HAL's types", () => {
    expectTypes(
      randomMultinomial,
      { TENSOR_FLOAT32: "1.2", TENSOR_FLOAT16: "1.2" },
      (type) => [tensorOf(type, [1, 1]), i32Scalar(1), i32([2], [0, 1])],
      () => outputs,
    );
  });
});
