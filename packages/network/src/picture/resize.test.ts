import { describe, expect, it } from "vitest";
import { resize, toGrey } from "./resize.ts";

const grey = (...values: number[]) => Uint8Array.from(values.flatMap((value) => [value, value, value]));
const firstChannel = (data: Uint8Array) => [...data].filter((_, place) => place % 3 === 0);

describe("resize", () => {
  it("leaves a picture of the same size alone", () => {
    const picture = { width: 2, height: 2, data: Uint8Array.from({ length: 12 }, (_, place) => place * 20) };
    expect(resize(picture, 2, 2)).toEqual(picture);
  });

  it("takes the place between pixel centres, and repeats edges", () => {
    // Centres of four pixels lie at -0.25, 0.25, 0.75 and 1.25 of two.
    const { data } = resize({ width: 2, height: 1, data: grey(0, 100) }, 4, 1);
    expect(firstChannel(data)).toEqual([0, 25, 75, 100]);
    const tall = resize({ width: 1, height: 2, data: grey(0, 100) }, 1, 4);
    expect(firstChannel(tall.data)).toEqual([0, 25, 75, 100]);
  });

  it("does not smooth what it skips", () => {
    // Centres of two pixels lie at 1 and 4 of six.
    const { data } = resize({ width: 6, height: 1, data: grey(0, 10, 20, 30, 40, 50) }, 2, 1);
    expect(firstChannel(data)).toEqual([10, 40]);
  });

  it("rounds halves up", () => {
    // Half-way between 0 and 1, and between 0 and 3.
    expect(firstChannel(resize({ width: 2, height: 1, data: grey(0, 1) }, 1, 1).data)).toEqual([1]);
    expect(firstChannel(resize({ width: 2, height: 1, data: grey(0, 3) }, 1, 1).data)).toEqual([2]);
  });

  it("weighs rows and columns together and keeps channels apart", () => {
    const data = Uint8Array.of(0, 255, 10, 100, 255, 20, 200, 255, 30, 44, 255, 40);
    expect(resize({ width: 2, height: 2, data }, 1, 1)).toEqual({
      width: 1,
      height: 1,
      data: Uint8Array.of(86, 255, 25),
    });
  });
});

describe("toGrey", () => {
  it("weighs red, green and blue", () => {
    const data = Uint8Array.of(255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255, 10, 20, 30);
    // 76.245, 149.685, 29.07, 255, 18.15
    expect([...toGrey({ width: 5, height: 1, data })]).toEqual([76, 150, 29, 255, 18]);
  });
});
