import { describe, expect, it } from "vitest";
import {
  type Boxed,
  errorRate,
  type Found,
  greatestOf,
  meanAveragePrecision,
  meanIntersectionOverUnion,
  topAccuracy,
} from "./metrics.ts";

describe("topAccuracy", () => {
  const of = (answer: number, ...scores: number[]) => ({ scores, answer });

  it("counts answers among the k greatest scores", () => {
    const all = [of(0, 9, 5, 1), of(1, 9, 5, 1), of(2, 9, 5, 1)];
    expect([1, 2, 3].map((k) => topAccuracy(all, k))).toEqual([1 / 3, 2 / 3, 1]);
  });

  it("counts equal scores by their place, and neither NaN nor a class without a score", () => {
    expect(topAccuracy([of(0, 5, 5)], 1)).toBe(1);
    expect(topAccuracy([of(1, 5, 5)], 1)).toBe(0);
    expect(topAccuracy([of(0, Number.NaN, 5)], 5)).toBe(0);
    expect(topAccuracy([of(7, 5, 5)], 5)).toBe(0);
  });
});

describe("meanIntersectionOverUnion", () => {
  it("is the mean over classes, of all inputs together", () => {
    const all = [
      { classes: [0, 0, 1, 1], answer: [0, 0, 0, 1] },
      { classes: [1], answer: [1] },
    ];
    // Class 0: 2 of 3; class 1: 2 of 3.
    expect(meanIntersectionOverUnion(all)).toBeCloseTo(2 / 3);
    expect(meanIntersectionOverUnion([{ classes: [2, 2], answer: [2, 1] }])).toBeCloseTo(1 / 4);
  });

  it("leaves out elements without an answer, and counts those that are missing as wrong", () => {
    expect(meanIntersectionOverUnion([{ classes: [0, 1], answer: [0, 255] }])).toBe(1);
    expect(meanIntersectionOverUnion([{ classes: [0], answer: [0, 0] }])).toBe(1 / 2);
  });
});

describe("meanAveragePrecision", () => {
  const box = (left: number, of = 1): Boxed => ({ box: [0, left, 1, left + 1], class: of });
  const find = (left: number, score: number, of = 1): Found => ({ ...box(left, of), score });

  it("is 1 if all boxes are found and 0 if none is", () => {
    expect(meanAveragePrecision([{ found: [find(0, 0.9)], answer: [box(0)] }])).toBe(1);
    expect(meanAveragePrecision([{ found: [find(5, 0.9)], answer: [box(0)] }])).toBe(0);
    expect(meanAveragePrecision([{ found: [], answer: [box(0)] }])).toBe(0);
  });

  it("counts a box that overlaps by half, and not one by less", () => {
    // Both 2/3, either 4/3; and both 0.6, either 1.4.
    expect(meanAveragePrecision([{ found: [find(1 / 3, 1)], answer: [box(0)] }])).toBe(1);
    expect(meanAveragePrecision([{ found: [find(0.4, 1)], answer: [box(0)] }])).toBe(0);
  });

  it("is the area under precision by recall", () => {
    // Right, wrong, right: precision 1 to recall 1/2, then 2/3.
    const all = [{ found: [find(0, 0.9), find(9, 0.8), find(3, 0.7)], answer: [box(0), box(3)] }];
    expect(meanAveragePrecision(all)).toBeCloseTo(1 / 2 + (1 / 2) * (2 / 3));
  });

  it("takes an answer once, in its own input and class only", () => {
    expect(meanAveragePrecision([{ found: [find(0, 0.9), find(0, 0.8)], answer: [box(0), box(5)] }])).toBe(1 / 2);
    const elsewhere = [
      { found: [find(0, 0.9)], answer: [] },
      { found: [], answer: [box(0)] },
    ];
    expect(meanAveragePrecision(elsewhere)).toBe(0);
    expect(meanAveragePrecision([{ found: [find(0, 1, 2)], answer: [box(0, 1), box(0, 2)] }])).toBe(1 / 2);
  });
});

describe("errorRate", () => {
  it("counts symbols that are exchanged, left out and inserted", () => {
    expect(errorRate([{ found: [1, 2, 3], answer: [1, 2, 3] }])).toBe(0);
    expect(errorRate([{ found: [1, 9, 3], answer: [1, 2, 3] }])).toBeCloseTo(1 / 3);
    expect(errorRate([{ found: [1, 3], answer: [1, 2, 3] }])).toBeCloseTo(1 / 3);
    expect(errorRate([{ found: [1, 2, 2, 3], answer: [1, 2, 3] }])).toBeCloseTo(1 / 3);
    expect(
      errorRate([
        { found: [], answer: [1, 2] },
        { found: [1, 2], answer: [1, 2] },
      ]),
    ).toBe(1 / 2);
  });

  it("reads the greatest score of each frame", () => {
    expect(greatestOf([1, 2, 9, 0, 5, 5], 2)).toEqual([1, 0, 0]);
  });
});
