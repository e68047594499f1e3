import { elementAt } from "@nnhal/operations";
import { describe, expect, it } from "vitest";
import { createRandom } from "./random.ts";

const take = (seed: number, count: number) => {
  const random = createRandom(seed);
  return Array.from({ length: count }, () => random.next());
};

describe("createRandom", () => {
  it("gives the same numbers for the same seed, and others for another", () => {
    expect(take(7, 20)).toEqual(take(7, 20));
    expect(take(7, 20)).not.toEqual(take(8, 20));
    expect(new Set(take(7, 1000)).size).toBe(1000);
  });

  it("spreads evenly over [0, 1), for neighbouring seeds too", () => {
    for (const numbers of [take(1, 10_000), Array.from({ length: 10_000 }, (_, seed) => elementAt(take(seed, 1), 0))]) {
      const tenths = new Array<number>(10).fill(0);
      for (const number of numbers) {
        const tenth = Math.floor(10 * number);
        tenths[tenth] = elementAt(tenths, tenth) + 1;
      }
      for (const count of tenths) expect(Math.abs(count - 1000)).toBeLessThan(150);
    }
  });

  it("draws whole numbers within bounds, both included", () => {
    const random = createRandom(3);
    const drawn = new Set(Array.from({ length: 500 }, () => random.integer(-2, 2)));
    expect([...drawn].sort((a, b) => a - b)).toEqual([-2, -1, 0, 1, 2]);
    expect(random.integer(5, 5)).toBe(5);
  });

  it("picks every element of a list, and knows never and always", () => {
    const random = createRandom(4);
    expect(new Set(Array.from({ length: 100 }, () => random.pick(["a", "b", "c"]))).size).toBe(3);
    for (let count = 0; count < 100; count++) {
      expect(random.chance(0)).toBe(false);
      expect(random.chance(1)).toBe(true);
    }
  });
});
