import { elementCount } from "@nnhal/operations";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { quotientOf } from "./_index.ts";
import { foldAxes, layOut, MOST_ALONG } from "./_layout.ts";
import { plainTarget, resultsOf } from "./_target.test-helper.ts";

describe("folded", () => {
  it("assigns each element one thread, its coordinates and its indexes, without dividing a large index", () => {
    const extents = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(extents, fc.constantFrom(1, 4), fc.integer({ min: 6, max: 30 }), (outer, width, most) => {
        const dimensions = [...outer.slice(0, -1), outer[outer.length - 1] * width];
        const { threads, at, row, flat, groups } = foldAxes(dimensions, width, quotientOf, most);
        expect(groups).toBe(1);
        const found = resultsOf({ threads, body: `return [${[...at, row, flat].join(", ")}];` });
        const last = outer[outer.length - 1];
        expect(found).toEqual(
          found.map((_, index) => {
            let rest = index;
            const coordinates = outer.map(() => 0);
            for (let axis = outer.length - 1; axis >= 0; axis--) {
              coordinates[axis] = rest % outer[axis];
              rest = Math.floor(rest / outer[axis]);
            }
            return [...coordinates, Math.floor(index / last), index];
          }),
        );
        expect(found.length).toBe(elementCount(outer));
        const isSingle = (extent: number) => outer.includes(extent);
        const isLast = (_: number, level: number) => level === 2;
        expect(threads.every((extent, level) => extent <= most || isSingle(extent) || isLast(extent, level))).toBe(
          true,
        );
      }),
    );
  });
});

describe("layOut", () => {
  it.each([
    [[1, 4096, 2048, 1], 1],
    [[1, 4096, 2049, 1], 2],
    [[2 ** 24], 1],
    [[3, 2 ** 23 + 1, 3], 3],
    [[4096, 4096, 4, 4], 2],
    [[2, 2, 2, 2 ** 25], 2],
  ])("lays %j out along %i axes, so that no index that is divided is above 2^23", (dimensions, axes) => {
    for (const groups of [false, true]) {
      const target = { ...plainTarget, block: [4, 1] as const, groups };
      const { threads, at } = layOut(dimensions, 1, target, quotientOf);
      expect(threads.length).toBe(axes);
      expect(elementCount(threads)).toBe(elementCount(dimensions));
      for (const [level, extent] of threads.entries()) {
        const isDivided = at.some((code) => code.includes(`thread.${"xyz"[level]} + 0.5) /`));
        expect(extent <= MOST_ALONG || !isDivided).toBe(true);
      }
    }
  });
});
