import { describe, expect, it } from "vitest";
import { differenceOf, quantile, ratioOf, timesOf } from "./statistics.ts";

describe("quantile", () => {
  it("is an element, or lies between two in proportion", () => {
    expect(quantile([7], 0.9)).toBe(7);
    expect(quantile([3, 1, 2], 0)).toBe(1);
    expect(quantile([3, 1, 2], 0.5)).toBe(2);
    expect(quantile([3, 1, 2], 1)).toBe(3);
    expect(quantile([10, 20], 0.9)).toBeCloseTo(19, 12);
  });

  it("leaves its argument as it is", () => {
    const values = [3, 1, 2];
    quantile(values, 0.5);
    expect(values).toEqual([3, 1, 2]);
  });
});

describe("timesOf", () => {
  it("counts the executions of all rounds", () => {
    expect(timesOf([[4, 2], [3], []])).toEqual({ executions: 3, min: 2, median: 3, p90: expect.closeTo(3.8, 12) });
  });

  it("is undefined without executions", () => {
    expect(timesOf([])).toBeUndefined();
    expect(timesOf([[], []])).toBeUndefined();
  });
});

describe("ratioOf", () => {
  it("compares rounds, so that what slows down a whole round does not count", () => {
    const ours = [[1], [100], [1]];
    const theirs = [[2], [200], [2]];
    expect(ratioOf(ours, theirs)).toEqual({ median: 0.5, low: 0.5, high: 0.5, ofMinima: 0.5 });
  });

  it("has the spread of the rounds", () => {
    const ours = Array.from({ length: 11 }, (_, round) => [10 + round]);
    const theirs = ours.map(() => [10]);
    expect(ratioOf(ours, theirs)).toEqual({
      median: 1.5,
      low: expect.closeTo(1.1, 12),
      high: expect.closeTo(1.9, 12),
      ofMinima: 1,
    });
  });

  it("leaves out rounds that only one has done, and needs one that both have", () => {
    expect(ratioOf([[1], [9]], [[2]])).toMatchObject({ median: 0.5, ofMinima: 0.5 });
    expect(ratioOf([[2]], [[2], [0.1]])).toMatchObject({ median: 1, ofMinima: 1 });
    expect(ratioOf([], [[1]])).toBeUndefined();
  });
});

describe("differenceOf", () => {
  it("is that of the medians of each round", () => {
    expect(differenceOf([[3, 5], [14], [9]], [[1], [10, 12], [2]])).toEqual({
      median: 3,
      low: expect.closeTo(3, 12),
      high: expect.closeTo(6.2, 12),
      ofMinima: 2,
    });
    expect(differenceOf([], [[1]])).toBeUndefined();
  });
});
