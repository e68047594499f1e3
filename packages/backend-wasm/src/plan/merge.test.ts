import fc from "fast-check";
import { expect, it } from "vitest";
import { mergeAxes } from "./merge.ts";

/** The places of each operand, in the order in which loops visit them. */
function visit(loops: readonly number[], steps: readonly (readonly number[])[]): string[] {
  const [extent, ...rest] = loops;
  if (extent === undefined) return [steps.map(() => 0).join()];
  const inner = visit(
    rest,
    steps.map((each) => each.slice(1)),
  ).map((places) => places.split(",").map(Number));
  return Array.from({ length: extent }, (_, index) =>
    inner.map((places) => places.map((place, operand) => place + index * (steps[operand]?.[0] ?? 0)).join()),
  ).flat();
}

it("visits the same places in the same order, with fewer loops", () => {
  const extents = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 0, maxLength: 4 });
  const drawn = extents.chain((loops) =>
    fc.record({
      loops: fc.constant(loops),
      steps: fc.array(
        fc.array(fc.constantFrom(0, 1, 2, 4, 8, 12), { minLength: loops.length, maxLength: loops.length }),
        { minLength: 1, maxLength: 3 },
      ),
    }),
  );
  fc.assert(
    fc.property(drawn, ({ loops, steps }) => {
      const result = mergeAxes(loops, steps);
      expect(visit(result.loops, result.steps)).toEqual(visit(loops, steps));
      expect(result.loops.length).toBeLessThanOrEqual(Math.max(1, loops.length));
    }),
  );
});

it("joins axes that lie side by side for all operands", () => {
  const contiguous = [12, 4, 1];
  expect(mergeAxes([2, 3, 4], [contiguous, contiguous])).toEqual({ loops: [24], steps: [[1], [1]] });
  expect(mergeAxes([2, 3, 4], [contiguous, [0, 0, 1]])).toEqual({
    loops: [6, 4],
    steps: [
      [4, 1],
      [0, 1],
    ],
  });
  expect(mergeAxes([1, 1], [[1, 1]])).toEqual({ loops: [1], steps: [[1]] });
});
