import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { normalise, shrink } from "./input.ts";
import type { Picture } from "./sketch.ts";

/** Grey pictures from one number a pixel. */
const grey = (width: number, height: number, values: readonly number[]): Picture => ({
  width,
  height,
  data: Uint8Array.from(values.flatMap((value) => [value, value, value])),
});

describe("shrink", () => {
  it("leaves a picture of the wanted size as it is", () => {
    const picture = grey(2, 2, [0, 50, 100, 255]);
    expect(shrink(picture, 2)).toEqual(picture);
  });

  it("averages the four pixels around the middle, halves rounded up", () => {
    expect(shrink(grey(2, 2, [0, 50, 100, 255]), 1).data[0]).toBe(101);
    expect(shrink(grey(2, 2, [0, 0, 1, 1]), 1).data[0]).toBe(1);
    expect(shrink(grey(2, 2, [0, 0, 0, 1]), 1).data[0]).toBe(0);
  });

  it("takes single pixels at odd factors and needs no square", () => {
    expect(shrink(grey(3, 1, [10, 20, 30]), 1).data[0]).toBe(20);
    expect([...shrink(grey(4, 1, [0, 10, 20, 90]), 2).data.filter((_, index) => index % 3 === 0)]).toEqual([
      5, 55, 5, 55,
    ]);
  });

  it("repeats the edge when it enlarges", () => {
    expect([
      ...shrink(grey(2, 1, [0, 100]), 4)
        .data.slice(0, 12)
        .filter((_, index) => index % 3 === 0),
    ]).toEqual([0, 25, 75, 100]);
  });

  it("keeps channels apart and one colour one colour", () => {
    const byte = fc.integer({ min: 0, max: 255 });
    const side = fc.integer({ min: 1, max: 40 });
    fc.assert(
      fc.property(byte, byte, byte, side, side, side, (red, green, blue, width, height, size) => {
        const data = Uint8Array.from({ length: width * height * 3 }, (_, index) => [red, green, blue][index % 3]);
        const expected = Uint8Array.from({ length: size * size * 3 }, (_, index) => [red, green, blue][index % 3]);
        expect(shrink({ width, height, data }, size).data).toEqual(expected);
      }),
    );
  });
});

it("normalise maps bytes to [-1, 1), 128 to 0", () => {
  expect([...normalise(Uint8Array.of(0, 64, 128, 255))]).toEqual([-1, -0.5, 0, 127 / 128]);
});
