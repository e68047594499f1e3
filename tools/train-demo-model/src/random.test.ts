import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRandom } from "./random.ts";

const take = (count: number, draw: () => number): number[] => Array.from({ length: count }, draw);

describe("createRandom", () => {
  it("gives the same numbers for the same seed and others for another", () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer(), (seed, other) => {
        const numbers = take(8, createRandom(seed).next);
        expect(take(8, createRandom(seed).next)).toEqual(numbers);
        if ((seed | 0) !== (other | 0)) expect(take(8, createRandom(other).next)).not.toEqual(numbers);
      }),
    );
  });

  it("keeps to the ranges asked for and reaches all of them", () => {
    const random = createRandom(1);
    const uniform = take(5000, random.next);
    expect(Math.min(...uniform)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...uniform)).toBeLessThan(1);
    const between = take(5000, () => random.between(-3, 5));
    expect(Math.min(...between)).toBeGreaterThanOrEqual(-3);
    expect(Math.min(...between)).toBeLessThan(-2.9);
    expect(Math.max(...between)).toBeLessThan(5);
    expect(Math.max(...between)).toBeGreaterThan(4.9);
    expect(new Set(take(500, () => random.integer(7)))).toEqual(new Set([0, 1, 2, 3, 4, 5, 6]));
    expect(new Set(take(500, () => random.pick([2, 4, 8])))).toEqual(new Set([2, 4, 8]));
  });

  it("spreads evenly, and normally if asked", () => {
    const random = createRandom(2);
    const counts = new Array<number>(10).fill(0);
    for (const value of take(20_000, random.next)) counts[Math.floor(value * 10)]++;
    for (const count of counts) expect(Math.abs(count - 2000)).toBeLessThan(200);

    const values = take(20_000, () => random.normal(2));
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
    expect(Math.abs(mean)).toBeLessThan(0.05);
    expect(Math.abs(Math.sqrt(variance) - 2)).toBeLessThan(0.05);
    expect(take(1000, () => Number(random.chance(0.25))).reduce((sum, value) => sum + value, 0)).toBeGreaterThan(200);
    expect(take(1000, () => Number(random.chance(0.25))).reduce((sum, value) => sum + value, 0)).toBeLessThan(300);
  });
});
