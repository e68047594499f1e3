import { expect, it } from "vitest";
import { f32, fill, i32, q8, q8s } from "./_run.test-helper.ts";
import { widen, widenOnce } from "./_widen.ts";

it("returns elements minus the zero point as float64, and does not change the tensor", () => {
  const tensor = q8([3], 0.5, 200, [0, 200, 255]);
  expect(fill(widen(tensor))).toEqual(Float64Array.of(-200, 0, 55));
  expect(Array.from(tensor.data)).toEqual([0, 200, 255]);
  expect(fill(widen(q8s([2], 0.5, -128, [-128, 127])))).toEqual(Float64Array.of(0, 255));
  expect(fill(widen(i32([1], [-(2 ** 31)])))).toEqual(Float64Array.of(-(2 ** 31)));
  const floats = f32([1], [0.1]);
  expect(fill(widen(floats))).toEqual(Float64Array.of(Math.fround(0.1)));
  expect(fill(widen(floats)).buffer).not.toBe(floats.data.buffer);
});

it("takes what an executor has kept, and hands over what it may keep", () => {
  const tensor = f32([2], [1, 2]);
  const kept = new Map<unknown, Float64Array>();
  const widened = {
    get: (data: unknown) => kept.get(data),
    accepts: () => true,
    set: (data: unknown, wide: Float64Array) => void kept.set(data, wide),
  };
  widenOnce(tensor, { widened });
  expect(kept.size).toBe(0);
  const first = fill(widenOnce(tensor, { widened }));
  expect(fill(widenOnce(tensor, { widened }))).toBe(first);
  expect(fill(widenOnce(tensor, {}))).not.toBe(first);
});
