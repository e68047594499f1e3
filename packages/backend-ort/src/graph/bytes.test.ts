import { describe, expect, it } from "vitest";
import { difference, toSigned } from "./bytes.ts";

const all = Int8Array.from({ length: 256 }, (_, place) => place - 128);

describe("difference", () => {
  it("subtracts each number of 8 bits from each other, and says which do not fit", () => {
    for (const less of [-128, -127, -16, -1, 0, 1, 16, 126, 127]) {
      const { numbers, beyond } = difference(all, less);
      const right = Array.from(all, (number) => number - less);
      expect([...numbers]).toEqual(right.map((number) => Math.max(-128, Math.min(127, number))));
      const restOf = (number: number) => number - Math.max(-128, Math.min(127, number));
      const wrong = right.flatMap((number, place) => (restOf(number) === 0 ? [] : [{ place, rest: restOf(number) }]));
      expect(beyond).toEqual(wrong);
      const unsigned = Uint8Array.from(all, (number) => number + 128);
      expect(difference(unsigned, less)).toEqual({ numbers, beyond });
    }
  });

  it("computes any number of bytes, over the ends of blocks and chunks", () => {
    for (const length of [0, 1, 15, 16, 17, 2 ** 18 - 1, 2 ** 18, 2 ** 18 + 1, 2 ** 19 + 5]) {
      const from = new Int8Array(length).fill(-100);
      const places = [0, 15, 16, 2 ** 18 - 1, 2 ** 18, length - 1].filter((place) => place >= 0 && place < length);
      for (const place of places) from[place] = 100;
      const { numbers, beyond } = difference(from, -28);
      expect(beyond).toEqual([...new Set(places)].map((place) => ({ place, rest: 1 })));
      expect(numbers.length).toBe(length);
      expect(numbers.every((number, place) => number === (from[place] === 100 ? 127 : -72))).toBe(true);
    }
  });

  it("does not change what it reads", () => {
    const from = Int8Array.of(1, 2, 3);
    difference(from, 1);
    expect([...from]).toEqual([1, 2, 3]);
  });
});

describe("toSigned", () => {
  it("subtracts 128 from each byte", () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, place) => place);
    expect([...toSigned(bytes)]).toEqual([...all]);
    expect([...toSigned(bytes.subarray(3, 5))]).toEqual([-125, -124]);
  });
});
