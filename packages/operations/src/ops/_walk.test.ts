/**
 * The walk over two tensors against nested loops written out plainly.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stridesOf } from "../shape.ts";
import { type Steps, walk } from "./_walk.ts";

/** The pairs of places that a walk visits, in ranges of at most `size` elements. */
function visitAll(extents: readonly number[], left: Steps, right: Steps, size = Number.POSITIVE_INFINITY) {
  const pairs: [number, number][] = [];
  const { units, compute } = walk(extents, left, right, (from, to, length) => {
    for (let index = 0; index < length; index++) pairs.push([from.at + index * from.step, to.at + index * to.step]);
  });
  for (let first = 0; first < units; first += size) compute(first, Math.min(first + size, units));
  return pairs;
}

/** The same by recursion over the axes. */
function computeExpected(extents: readonly number[], left: Steps, right: Steps): [number, number][] {
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
  it("visits what nested loops visit, in their order, whole and in ranges", () => {
    const axis = fc.tuple(
      fc.integer({ min: 0, max: 4 }),
      fc.integer({ min: -9, max: 9 }),
      fc.integer({ min: -9, max: 9 }),
    );
    fc.assert(
      fc.property(
        fc.array(axis, { maxLength: 5 }),
        fc.nat(50),
        fc.nat(50),
        fc.integer({ min: 1, max: 9 }),
        (axes, leftStart, rightStart, size) => {
          const extents = axes.map(([extent]) => extent);
          const left = { start: leftStart, steps: axes.map(([, step]) => step) };
          const right = { start: rightStart, steps: axes.map(([, , step]) => step) };
          const wanted = computeExpected(extents, left, right);
          expect(visitAll(extents, left, right)).toEqual(wanted);
          expect(visitAll(extents, left, right, size)).toEqual(wanted);
        },
      ),
    );
  });

  it("takes axes that both sides step through evenly as one", () => {
    const runs: number[] = [];
    const steps = { start: 0, steps: stridesOf([3, 1, 4]) };
    const all = walk([3, 1, 4], steps, steps, (_left, _right, length) => runs.push(length));
    all.compute(0, all.units);
    expect(runs).toEqual([12]);
  });

  it("visits one pair if there are no axes, and none if an extent is 0", () => {
    const none = { start: 5, steps: [] };
    expect(visitAll([], none, { start: 7, steps: [] })).toEqual([[5, 7]]);
    expect(visitAll([0], { start: 0, steps: [1] }, { start: 0, steps: [1] })).toEqual([]);
  });
});
