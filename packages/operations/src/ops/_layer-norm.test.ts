import { expect, test } from "vitest";
import { normaliseLayer } from "./_layer-norm.ts";
import { q16Symm } from "./_run.test-helper.ts";

const WEIGHT = 2 ** -15;

/** Normalises values with one weight and one bias for all of them, both as real numbers. */
function normalise(values: readonly number[], { weight = 0.5, bias = 0, leastVariance = 1, scale = WEIGHT } = {}) {
  const all = (real: number) => values.map(() => real);
  const weights = q16Symm([values.length], scale, all(Math.round(weight / scale)));
  const biases = { ...weights, type: "TENSOR_INT32" as const, data: Int32Array.from(all((bias / scale) * 1024)) };
  const sums = Int16Array.from(values);
  normaliseLayer(sums, weights, biases, leastVariance);
  return Array.from(sums, (sum) => sum / 4096);
}

/** The formula in real numbers. */
function computeExpected(values: readonly number[], weight: number, bias: number): number[] {
  const mean = values.reduce((sum, value) => sum + value) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  return values.map((value) => ((value - mean) / Math.sqrt(variance)) * weight + bias);
}

test.each([
  [[100, -300, 250, 7], 0.5, 0],
  [[100, -300, 250, 7, -29], 0.75, -0.25],
  [[30, 30, 30, 50], 0.5, 0.125],
  [[32_767, -32_768, 0, 1], 0.9, 0],
])("%j with weights of %d and a bias of %d", (values, weight, bias) => {
  const results = normalise(values, { weight, bias });
  for (const [index, result] of computeExpected(values, weight, bias).entries()) {
    expect(Math.abs((results[index] ?? Number.NaN) - result)).toBeLessThan(0.003);
  }
});

test("values that are all the same become the bias", () => {
  expect(normalise([500, 500, 500, 500], { bias: 0.25 })).toEqual([0.25, 0.25, 0.25, 0.25]);
});

test("a variance below 1 counts as the least one", () => {
  const values = [0, 0, 0, 1];
  const [plain] = normalise(values).slice(-1);
  const [guarded] = normalise(values, { leastVariance: 4 }).slice(-1);
  expect(plain).toBeCloseTo(0.75 * 0.5, 3);
  expect(guarded).toBeCloseTo((0.75 * 0.5) / 2, 3);
});

test("results saturate at 16 bits", () => {
  expect(normalise([-1000, 1000], { weight: 20, scale: 2 ** -10 })).toEqual([-8, 32_767 / 4096]);
});
