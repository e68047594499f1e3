import { expect, it } from "vitest";
import { f32, i32, q8, q8s } from "./_run.test-helper.ts";
import { widen } from "./_widen.ts";

it("gives elements less the zero point as float64, and leaves the tensor alone", () => {
  const tensor = q8([3], 0.5, 200, [0, 200, 255]);
  expect(widen(tensor)).toEqual(Float64Array.of(-200, 0, 55));
  expect(Array.from(tensor.data)).toEqual([0, 200, 255]);
  expect(widen(q8s([2], 0.5, -128, [-128, 127]))).toEqual(Float64Array.of(0, 255));
  expect(widen(i32([1], [-(2 ** 31)]))).toEqual(Float64Array.of(-(2 ** 31)));
  const floats = f32([1], [0.1]);
  expect(widen(floats)).toEqual(Float64Array.of(Math.fround(0.1)));
  expect(widen(floats).buffer).not.toBe(floats.data.buffer);
});
