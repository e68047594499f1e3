/**
 * The walk over two tensors against nested loops written out plainly.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stridesOf } from "../shape.ts";
import { WORK_BETWEEN_PAUSES } from "./_convolution.ts";
import { type Steps, walk } from "./_walk.ts";

/** The pairs of places that a walk visits, and how often it pauses. */
function visited(extents: readonly number[], left: Steps, right: Steps) {
  const pairs: [number, number][] = [];
  const steps = walk(extents, left, right, (from, to, length) => {
    for (let index = 0; index < length; index++) pairs.push([from.at + index * from.step, to.at + index * to.step]);
  });
  let pauses = 0;
  while (!steps.next().done) pauses++;
  return { pairs, pauses };
}

/** The same by recursion over the axes. */
function expected(extents: readonly number[], left: Steps, right: Steps): [number, number][] {
  const pairs: [number, number][] = [];
  const descend = (axis: number, from: number, to: number): void => {
    if (axis === extents.length) {
      pairs.push([from, to]);
      return;
    }
    for (let index = 0; index < extents[axis]; index++) {
      descend(axis + 1, from + index * left.steps[axis], to + index * right.steps[axis]);
    }
  };
  descend(0, left.start, right.start);
  return pairs;
}

describe("walk", () => {
  it("visits what nested loops visit, in their order", () => {
    const axis = fc.tuple(
      fc.integer({ min: 0, max: 4 }),
      fc.integer({ min: -9, max: 9 }),
      fc.integer({ min: -9, max: 9 }),
    );
    fc.assert(
      fc.property(fc.array(axis, { maxLength: 5 }), fc.nat(50), fc.nat(50), (axes, leftStart, rightStart) => {
        const extents = axes.map(([extent]) => extent);
        const left = { start: leftStart, steps: axes.map(([, step]) => step) };
        const right = { start: rightStart, steps: axes.map(([, , step]) => step) };
        expect(visited(extents, left, right).pairs).toEqual(expected(extents, left, right));
      }),
    );
  });

  it("takes axes that both sides step through evenly as one", () => {
    const runs: number[] = [];
    const steps = { start: 0, steps: stridesOf([3, 1, 4]) };
    const all = walk([3, 1, 4], steps, steps, (_left, _right, length) => runs.push(length));
    while (!all.next().done);
    expect(runs).toEqual([12]);
  });

  it("visits one pair if there are no axes, and none if an extent is 0", () => {
    const none = { start: 5, steps: [] };
    expect(visited([], none, { start: 7, steps: [] }).pairs).toEqual([[5, 7]]);
    expect(visited([0], { start: 0, steps: [1] }, { start: 0, steps: [1] }).pairs).toEqual([]);
  });

  it("pauses in a long run and between many short ones", () => {
    let count = 0;
    const pausesOf = (extents: readonly number[], steps: readonly number[]) => {
      count = 0;
      let pauses = 0;
      const side = { start: 0, steps };
      const all = walk(extents, side, side, (_left, _right, length) => {
        count += length;
      });
      while (!all.next().done) pauses++;
      return pauses;
    };
    expect(pausesOf([2 * WORK_BETWEEN_PAUSES + 1], [1])).toBe(2);
    expect(count).toBe(2 * WORK_BETWEEN_PAUSES + 1);
    expect(pausesOf([WORK_BETWEEN_PAUSES / 1024, 1024], [0, 1])).toBe(1);
    expect(count).toBe(WORK_BETWEEN_PAUSES);
  });
});
