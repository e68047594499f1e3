/** Tests of the parts that the detection operations share: overlap, box deltas and non-maximum suppression. */
import { describe, expect, it } from "vitest";
import {
  choose,
  ensureBatch,
  ensureBoxScale,
  ensureOrdered,
  findChosen,
  hardKernel,
  intersectionOverUnion,
  type Suppression,
  startSuppression,
  suppressClasses,
  transformBox,
} from "./_boxes.ts";
import { f32, fill, q16Asymm, q16Symm } from "./_run.test-helper.ts";

describe("overlap", () => {
  it.each([
    ["the same box", [0, 0, 2, 4], 1],
    ["half of it", [0, 0, 2, 2], 0.5],
    ["a quarter of it, and as much beside", [1, 2, 3, 4], 2 / 10],
    ["a box beside", [2, 0, 4, 4], 0],
    ["a box far away", [9, 9, 10, 10], 0],
    ["a box inside", [0.5, 1, 1.5, 3], 2 / 8],
  ])("with %s", (_, other, wanted) => {
    expect(intersectionOverUnion([0, 0, 2, 4, ...other], 0, 4)).toBeCloseTo(wanted, 12);
    expect(intersectionOverUnion([0, 0, 2, 4, ...other], 4, 0)).toBeCloseTo(wanted, 12);
  });

  it("of two empty boxes is NaN, which suppresses no box", () => {
    expect(intersectionOverUnion([1, 1, 1, 1], 0, 0)).toBeNaN();
    expect(hardKernel(0.5)(Number.NaN)).toBe(1);
  });
});

describe("a box moved by deltas", () => {
  const move = (...deltas: readonly number[]) => {
    const result = new Float64Array(4);
    transformBox([0, 0, 0, 0, 4, 10, 8, 30], 4, deltas, 0, 40, 20, result, 0);
    return [...result];
  };

  it("stays if they are 0", () => {
    expect(move(0, 0, 0, 0)).toEqual([4, 10, 8, 30]);
  });

  it("moves by parts of its size, and grows about its centre", () => {
    expect(move(0.5, -0.25, 0, 0)).toEqual([6, 5, 10, 25]);
    const [x1, y1, x2, y2] = move(0, 0, Math.log(2), Math.log(0.5));
    expect([x1, x2]).toEqual([expect.closeTo(2, 9), expect.closeTo(10, 9)]);
    expect([y1, y2]).toEqual([expect.closeTo(15, 9), expect.closeTo(25, 9)]);
  });

  it("ends at the borders of the image, 20 wide and 40 high", () => {
    expect(move(0, 0, 9, 9)).toEqual([0, 0, 20, 40]);
    expect(move(9, 9, 0, 0)).toEqual([20, 40, 20, 40]);
    expect(move(-9, -9, 0, 0)).toEqual([0, 0, 0, 0]);
  });
});

describe("rules on boxes", () => {
  it("ends must not lie before beginnings, on either axis", () => {
    expect(() => ensureOrdered([1, 2, 1, 2], 0)).not.toThrow();
    expect(() => ensureOrdered([9, 9, 9, 9, 1, 2, 0, 2], 4)).toThrow("box 1 ends before it begins: 1, 2, 0, 2");
    expect(() => ensureOrdered([1, 2, 1, 1], 0)).toThrow("box 0 ends");
    expect(() => ensureOrdered([Number.NaN, 2, 1, 2], 0)).toThrow("box 0 ends");
  });

  it("a batch index names a batch", () => {
    expect(() => ensureBatch(0, 2)).not.toThrow();
    expect(() => ensureBatch(1, 2)).not.toThrow();
    expect(() => ensureBatch(-1, 2)).toThrow("batch index -1 is outside [0, 2)");
    expect(() => ensureBatch(2, 2)).toThrow("batch index 2 is outside [0, 2)");
  });

  it("16-bit boxes have scale 1/8 and zero point 0, floats none", () => {
    expect(() => ensureBoxScale("the boxes", q16Asymm([1], 0.125, 0))).not.toThrow();
    expect(() => ensureBoxScale("the boxes", q16Symm([1], 0.125))).not.toThrow();
    expect(() => ensureBoxScale("the boxes", f32([1]))).not.toThrow();
    expect(() => ensureBoxScale("the boxes", q16Asymm([1], 0.25, 0))).toThrow(
      "the boxes: expected scale 0.125 and zero point 0, got 0.25 and 0",
    );
    expect(() => ensureBoxScale("the boxes", q16Asymm([1], 0.125, 1))).toThrow(
      "expected scale 0.125 and zero point 0, got 0.125 and 1",
    );
    expect(() => ensureBoxScale("the boxes", q16Symm([1], 0.0625))).toThrow(
      "expected scale 0.125 and zero point 0, got 0.0625 and 0",
    );
  });
});

/** Boxes in a row, each overlapping the next by a third. */
const row = Float64Array.from([0, 1, 2, 3].flatMap((x) => [x, 0, x + 2, 1]));
const suppression = (scores: readonly number[], more: Partial<Suppression> = {}): Suppression => ({
  scores: Float64Array.from(scores),
  boxes: row,
  boxOf: (candidate) => 4 * candidate,
  kernel: hardKernel(0.3),
  leastScore: undefined,
  most: -1,
  ...more,
});

describe("suppression", () => {
  const run = (scores: readonly number[], more?: Partial<Suppression>) => {
    const state = startSuppression([...scores.keys()], suppression(scores, more));
    while (choose(state));
    return findChosen(state);
  };

  it("drops neighbours of the chosen, best first", () => {
    expect(run([1, 3, 2, 4])).toEqual([3, 1]);
    expect(run([4, 3, 2, 1])).toEqual([0, 2]);
  });

  it("drops from the threshold on", () => {
    expect(run([4, 3], { kernel: hardKernel(1 / 3) })).toEqual([0]);
    expect(run([4, 3], { kernel: hardKernel(0.334) })).toEqual([0, 1]);
  });

  it.each([
    [-1, [0, 2]],
    [0, []],
    [1, [0]],
    [2, [0, 2]],
    [9, [0, 2]],
  ])("chooses %i at most", (most, wanted) => {
    expect(run([4, 3, 2, 1], { most })).toEqual(wanted);
  });

  it("takes the first of equal scores; a dropped one has changed places with the last", () => {
    expect(run([1, 1, 1, 1], { kernel: hardKernel(0.5) })).toEqual([0, 1, 2, 3]);
    expect(run([1, 1, 1, 1])).toEqual([0, 3]);
  });

  it("takes the first of equal scores that was given if those that are left keep their order", () => {
    const keepsOrder = true;
    expect(run([1, 1, 1, 1], { keepsOrder, kernel: hardKernel(0.5) })).toEqual([0, 1, 2, 3]);
    expect(run([1, 1, 1, 1], { keepsOrder })).toEqual([0, 2]);
    expect(run([1, 1, 2, 1], { keepsOrder })).toEqual([2, 0]);
    expect(run([4, 3, 2, 1], { keepsOrder })).toEqual([0, 2]);
  });

  it("with a soft kernel lowers scores, and drops those below the least", () => {
    const soft = { kernel: (overlap: number) => 1 - overlap };
    expect(run([4, 3, 2.5, 1], { ...soft, leastScore: 0 })).toEqual([0, 2, 1, 3]);
    // 3 becomes 2 for box 0, then 4/3 for box 2; 1 becomes 2/3.
    expect(run([4, 3, 2.5, 1], { ...soft, leastScore: 4 / 3 - 1e-9 })).toEqual([0, 2, 1]);
    expect(run([4, 3, 2.5, 1], { ...soft, leastScore: 4 / 3 + 1e-9 })).toEqual([0, 2]);
  });

  it("of none is none", () => {
    expect(run([])).toEqual([]);
  });
});

describe("suppression in classes", () => {
  // Scores of background, class 1 and class 2 of four boxes.
  const scores = [9, 4, 1, 9, 3, 2, 9, 2, 3, 9, 1, 4];
  const run = (threshold: number, mostPerClass: number, more: Partial<Suppression> = {}, boxes = 4, classes = 3) =>
    fill(
      suppressClasses(
        boxes,
        classes,
        threshold,
        mostPerClass,
        suppression(scores, { boxOf: (candidate) => 4 * Math.floor(candidate / 3), ...more }),
      ),
    );

  it("chooses in each class except the background, and returns all by falling score", () => {
    // Class 1: boxes 0 and 2, scores 4 and 2. Class 2: boxes 3 and 1, scores 4 and 2.
    expect(run(0, -1)).toEqual([1, 11, 7, 5]);
  });

  it("takes scores above the threshold", () => {
    expect(run(2, -1)).toEqual([1, 11]);
    expect(run(1.9, -1)).toEqual([1, 11, 7, 5]);
  });

  it("limits each class, and all together", () => {
    expect(run(0, 1)).toEqual([1, 11]);
    expect(run(0, -1, { most: 3 })).toEqual([1, 11, 7]);
    expect(run(0, -1, { most: 0 })).toEqual([]);
  });

  it("ends at once if there are no boxes, for any number of classes", () => {
    expect(run(0, -1, {}, 0, 2 ** 31 - 1)).toEqual([]);
  });
});
