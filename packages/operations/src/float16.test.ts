import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromFloat16Bits, roundAllToFloat16, roundToFloat16, toFloat16Bits } from "./float16.ts";

const INFINITY_BITS = 0x7c00;

/** The number that bits stand for, by the definition of IEEE 754. */
function decode(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

describe("float16 bits", () => {
  it("decode as IEEE 754 defines, all 65536 of them", () => {
    const wrong = Array.from({ length: 0x1_0000 }, (_, bits) => bits).filter(
      (bits) => !Object.is(fromFloat16Bits(bits), decode(bits)),
    );
    expect(wrong).toEqual([]);
  });

  it("survive decoding and encoding, all but NaNs, which become one", () => {
    const wrong = Array.from({ length: 0x1_0000 }, (_, bits) => bits).filter((bits) => {
      const back = toFloat16Bits(fromFloat16Bits(bits));
      return (bits & 0x7fff) > INFINITY_BITS ? (back & 0x7fff) !== 0x7e00 : back !== bits;
    });
    expect(wrong).toEqual([]);
  });
});

describe("roundToFloat16", () => {
  it("keeps every float16", () => {
    const wrong = Array.from({ length: 0x1_0000 }, (_, bits) => decode(bits)).filter(
      (value) => !Object.is(roundToFloat16(value), value),
    );
    expect(wrong).toEqual([]);
  });

  it("rounds to the nearest and halves to even, between all neighbours", () => {
    const wrong: number[] = [];
    for (let bits = 0; bits < INFINITY_BITS; bits++) {
      const below = decode(bits);
      const above = bits + 1 === INFINITY_BITS ? 65536 : decode(bits + 1);
      const result = (value: number) => (value === 65536 ? Number.POSITIVE_INFINITY : value);
      const half = (below + above) / 2;
      const nearHalf = (above - below) * 2 ** -30;
      const even = bits % 2 === 0 ? below : above;
      const right =
        roundToFloat16(half) === result(even) &&
        roundToFloat16(half - nearHalf) === below &&
        roundToFloat16(half + nearHalf) === result(above) &&
        roundToFloat16(-half) === -result(even) &&
        roundToFloat16(nearHalf - half) === -below &&
        roundToFloat16(-half - nearHalf) === -result(above);
      if (!right) wrong.push(bits);
    }
    expect(wrong).toEqual([]);
  });

  it("rounds once: a float32 in between would tip the number over the half", () => {
    const justAboveHalf = 1 + 2 ** -11 + 2 ** -40;
    expect(Math.fround(justAboveHalf)).toBe(1 + 2 ** -11);
    expect(roundToFloat16(justAboveHalf)).toBe(1 + 2 ** -10);
  });

  it("agrees with its bits for any number", () => {
    fc.assert(
      fc.property(fc.oneof(fc.double(), fc.float(), fc.double({ min: -70000, max: 70000 })), (value) => {
        expect(fromFloat16Bits(toFloat16Bits(value))).toBe(roundToFloat16(value));
      }),
    );
  });

  it.each([
    [65504, 65504],
    [65519.99, 65504],
    [65520, Number.POSITIVE_INFINITY],
    [-65520, Number.NEGATIVE_INFINITY],
    [1e300, Number.POSITIVE_INFINITY],
    [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY],
    [2 ** -25, 0],
    [2 ** -25 * (1 + 2 ** -52), 2 ** -24],
    [-(2 ** -25), -0],
    [Number.MIN_VALUE, 0],
    [-0, -0],
    [2 ** -14 - 2 ** -26, 2 ** -14],
    [2048 - 2 ** -20, 2048],
  ])("%f becomes %f", (value, rounded) => {
    expect(Object.is(roundToFloat16(value), rounded)).toBe(true);
  });

  it("keeps NaN", () => {
    expect(roundToFloat16(Number.NaN)).toBeNaN();
  });
});

describe("roundAllToFloat16", () => {
  it("rounds in place", () => {
    const values = Float32Array.of(1 + 2 ** -12, 1 + 2 ** -11 + 2 ** -20, 70000, -0.1);
    roundAllToFloat16(values);
    expect(Array.from(values)).toEqual([1, 1 + 2 ** -10, Number.POSITIVE_INFINITY, -0.0999755859375]);
  });
});
