import { describe, expect, test } from "vitest";
import { numbers, runOne } from "./_run.test-helper.ts";

const operator = { customCode: "Resampler", options: new Uint8Array(0) };
const image = { shape: [1, 2, 3, 1], data: [1, 2, 3, 10, 20, 30] };

async function resample(x: typeof image, points: readonly number[], shape = [...x.shape.slice(0, 3), 2]) {
  return (await runOne(operator, x, [{ shape, data: points }])).data;
}

describe("Resampler", () => {
  test("at each element's own place is the image", async () => {
    const places = [0, 0, 1, 0, 2, 0, 0, 1, 1, 1, 2, 1];
    expect(await resample(image, places)).toEqual(image.data);
  });

  test("between elements weighs them; those outside of the image are 0", async () => {
    // x and y: between two columns, between two rows, in the middle of four; then beyond each side, and outside.
    const points = [0.5, 0, 1, 0.25, 1.5, 0.5, -0.5, 0, 2.5, 1.5, 3, 0];
    expect(await resample(image, points)).toEqual([1.5, 6.5, 13.75, 0.5, 7.5, 0]);
  });

  test.each([
    ["x", -1, 0],
    ["y", 0, -1],
    ["y below", 0, 2],
    ["x that is not a number", Number.NaN, 0],
    ["y that is infinite", 0, Number.POSITIVE_INFINITY],
  ])("reads 0 at a point outside: %s", async (_, x, y) => {
    expect(await resample(image, [x, y, ...Array<number>(10).fill(0)])).toEqual([0, 1, 1, 1, 1, 1]);
  });

  test("reads each batch and channel by itself, by the definition", async () => {
    const [batches, height, width, channels] = [2, 3, 4, 2];
    const data = numbers(batches * height * width * channels, 5);
    const points = numbers(batches * height * width * 2, 6);
    const at = (batch: number, y: number, x: number, channel: number) =>
      y < 0 || y >= height || x < 0 || x >= width
        ? 0
        : (data[((batch * height + y) * width + x) * channels + channel] ?? 0);
    const wanted = Array.from({ length: data.length }, (_, place) => {
      const [channel, point] = [place % channels, Math.floor(place / channels)];
      const batch = Math.floor(point / (height * width));
      const [x = 0, y = 0] = points.slice(2 * point, 2 * point + 2);
      if (x <= -1 || y <= -1 || x >= width || y >= height) return 0;
      let sum = 0;
      // Each element counts by its distance: a tent of width 1 in both directions.
      for (let row = -1; row <= height; row++)
        for (let column = -1; column <= width; column++)
          sum +=
            Math.max(0, 1 - Math.abs(y - row)) *
            Math.max(0, 1 - Math.abs(x - column)) *
            at(batch, row, column, channel);
      return sum;
    });
    const actual = await resample({ shape: [batches, height, width, channels], data }, points);
    for (const [place, value] of wanted.entries()) expect(actual[place]).toBeCloseTo(value, 4);
  });

  test("refuses points that are not as many as the image has places, and a version that is not known", async () => {
    await expect(resample(image, [0, 0], [1, 1, 1, 2])).rejects.toThrow(
      "the shape of the points: expected [1,2,3,2], got [1,1,1,2]",
    );
    await expect(
      runOne({ ...operator, version: 2 }, image, [{ shape: [1, 2, 3, 2], data: numbers(12, 1) }]),
    ).rejects.toThrow("version 2 is not known, only 1 to 1");
  });
});
