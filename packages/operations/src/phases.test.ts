import { describe, expect, it } from "vitest";
import { type Phase, runIfShort, runInSteps, runToEnd, STEPS_BETWEEN_PAUSES } from "./phases.ts";

/** A phase that notes its ranges, and those ranges. */
function makeNoting(units: number, cost?: number): { readonly phase: Phase; readonly ranges: [number, number][] } {
  const ranges: [number, number][] = [];
  const compute = (first: number, end: number) => ranges.push([first, end]);
  return { phase: { units, compute, ...(cost !== undefined && { cost }) }, ranges };
}

function pausesOf(phases: Phase | readonly Phase[]): number {
  const steps = runInSteps(phases);
  let pauses = 0;
  while (!steps.next().done) pauses++;
  return pauses;
}

describe("runInSteps", () => {
  it("computes little work at once", () => {
    const { phase, ranges } = makeNoting(100);
    expect(pausesOf(phase)).toBe(0);
    expect(ranges).toEqual([[0, 100]]);
  });

  it("computes nothing of no units", () => {
    const { phase, ranges } = makeNoting(0);
    expect([pausesOf([]), pausesOf(phase), pausesOf([phase, phase])]).toEqual([0, 0, 0]);
    expect(ranges).toEqual([]);
  });

  it.each([
    [4, STEPS_BETWEEN_PAUSES / 4, 0],
    [4, STEPS_BETWEEN_PAUSES / 4 + 1, 1],
    [1, 3 * STEPS_BETWEEN_PAUSES, 2],
    [2 * STEPS_BETWEEN_PAUSES, 3, 2],
    [1 / 4, 4 * STEPS_BETWEEN_PAUSES + 1, 1],
  ])("cuts units of cost %d, of which there are %i, with %i pauses", (cost, units, pauses) => {
    const { phase, ranges } = makeNoting(units, cost);
    expect(pausesOf(phase)).toBe(pauses);
    expect(ranges).toHaveLength(pauses + 1);
    expect(ranges.map(([first]) => first)).toEqual([0, ...ranges.slice(0, -1).map(([, end]) => end)]);
    expect(ranges.at(-1)?.[1]).toBe(units);
  });

  it("takes an element of a plain loop for 4 steps", () => {
    expect(pausesOf(makeNoting(STEPS_BETWEEN_PAUSES).phase)).toBe(pausesOf(makeNoting(STEPS_BETWEEN_PAUSES, 4).phase));
  });

  it("adds up the work of small phases", () => {
    const small = makeNoting(STEPS_BETWEEN_PAUSES / 2, 1);
    expect(pausesOf([small.phase, small.phase])).toBe(0);
    expect(pausesOf([small.phase, small.phase, small.phase])).toBe(1);
  });

  it("reads the number of units before each range", () => {
    let units = 0;
    const order: string[] = [];
    const first: Phase = {
      units: 1,
      compute() {
        units = 2;
        order.push(`first finds ${units}`);
      },
    };
    const second: Phase = {
      get units() {
        return units;
      },
      cost: STEPS_BETWEEN_PAUSES,
      compute(from, end) {
        order.push(`${from} to ${end}`);
        if (from === 0) units = 3;
      },
    };
    expect(pausesOf([first, second])).toBe(2);
    expect(order).toEqual(["first finds 2", "0 to 1", "1 to 2", "2 to 3"]);
  });

  it("passes on an error, and starts nothing after it", () => {
    const { phase, ranges } = makeNoting(1);
    const broken = {
      units: 1,
      compute() {
        throw new RangeError("here");
      },
    };
    expect(() => runToEnd([broken, phase])).toThrow("here");
    expect(ranges).toEqual([]);
  });

  it("runs nothing of a kernel that has done its work", () => {
    expect(runInSteps(undefined).next().done).toBe(true);
  });
});

describe("runIfShort", () => {
  it.each([
    ["a plain loop that needs no pause", STEPS_BETWEEN_PAUSES / 4, undefined, true],
    ["a plain loop of one element more", STEPS_BETWEEN_PAUSES / 4 + 1, undefined, false],
    ["units that cost much", 2, STEPS_BETWEEN_PAUSES / 2 + 1, false],
    ["no units", 0, undefined, true],
  ])("computes %s: %d units at %s steps: %s", (_, units, cost, isRun) => {
    const { phase, ranges } = makeNoting(units, cost);
    expect(runIfShort(phase)).toBe(isRun);
    expect(runIfShort([phase])).toBe(isRun);
    const whole = [0, units];
    expect(ranges).toEqual(isRun ? [whole, whole] : []);
  });

  it("begins none of several phases, and has nothing to do for a kernel that has done its work", () => {
    const { phase, ranges } = makeNoting(1);
    expect(runIfShort([phase, phase])).toBe(false);
    expect(ranges).toEqual([]);
    expect(runIfShort(undefined)).toBe(true);
    expect(runIfShort([])).toBe(true);
  });
});
