import { describe, expect, it } from "vitest";
import { greatest, greatestNow } from "./_greatest.ts";
import { fill, pausesOf } from "./_run.test-helper.ts";

/** Numbers in no order, many of them several times. */
const some = (length: number, seed: number) =>
  Array.from({ length }, (_, index) => Math.round(20 * Math.sin((index + 1) * 12.9898 + seed * 78.233)));

describe("greatest", () => {
  it("is the beginning of a sort, for every count", () => {
    for (let length = 1; length < 40; length++) {
      const values = some(length, length);
      const precedes = (a: number, b: number) => values[a] > values[b] || (values[a] === values[b] && a > b);
      const sorted = values.map((_, place) => place).sort((a, b) => values[b] - values[a] || b - a);
      for (let count = 0; count <= length; count++) {
        expect(Array.from(fill(greatest(length, count, precedes)))).toEqual(sorted.slice(0, count));
        expect(Array.from(greatestNow(length, count, precedes))).toEqual(sorted.slice(0, count));
      }
    }
  });

  it.each([1, 1000, 100_000])("pauses while it looks for %i of many", (count) => {
    const values = some(1 << 18, 1);
    const precedes = (a: number, b: number) => values[a] > values[b] || (values[a] === values[b] && a < b);
    expect(pausesOf(greatest(values.length, count, precedes).phases)).toBeGreaterThanOrEqual(3);
  });
});
