import { describe, expect, it } from "vitest";
import { longsIn, numbersIn } from "./_integers.tflite.ts";

describe("Elements", () => {
  const numbers = [new Float32Array(1), new Float64Array(1), new Uint8Array(1), new Int16Array(1)];
  const longs = [new BigInt64Array(1), new BigUint64Array(1)];

  it.each(numbers)("of %o are numbers", (data) => {
    expect(numbersIn(data)).toBe(data);
    expect(() => longsIn(data)).toThrow(new TypeError("expected 64-bit integers, got numbers"));
  });

  it.each(longs)("of %o are 64-bit integers", (data) => {
    expect(longsIn(data)).toBe(data);
    expect(() => numbersIn(data)).toThrow(new TypeError("expected elements that are numbers, got 64-bit integers"));
  });
});
