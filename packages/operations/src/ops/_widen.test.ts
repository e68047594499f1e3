import { expect, it } from "vitest";
import { f32, i32, q8, q8s } from "./_run.test-helper.ts";
import { widen, widenOnce } from "./_widen.ts";

/** Runs a computation to its end and counts its pauses. */
function counted<T>(steps: Generator<void, T>): { readonly result: T; readonly pauses: number } {
  for (let pauses = 0; ; pauses++) {
    const step = steps.next();
    if (step.done) return { result: step.value, pauses };
  }
}

it("returns elements minus the zero point as float64, and does not change the tensor", () => {
  const tensor = q8([3], 0.5, 200, [0, 200, 255]);
  expect(counted(widen(tensor)).result).toEqual(Float64Array.of(-200, 0, 55));
  expect(Array.from(tensor.data)).toEqual([0, 200, 255]);
  expect(counted(widen(q8s([2], 0.5, -128, [-128, 127]))).result).toEqual(Float64Array.of(0, 255));
  expect(counted(widen(i32([1], [-(2 ** 31)]))).result).toEqual(Float64Array.of(-(2 ** 31)));
  const floats = f32([1], [0.1]);
  expect(counted(widen(floats)).result).toEqual(Float64Array.of(Math.fround(0.1)));
  expect(counted(widen(floats)).result.buffer).not.toBe(floats.data.buffer);
});

it("pauses while it widens many elements", () => {
  const data = new Uint8Array(2 ** 18 + 1).fill(5);
  const { result, pauses } = counted(widen({ data, zeroPoint: 3 }));
  expect(result).toHaveLength(data.length);
  expect(new Set(result)).toEqual(new Set([2]));
  expect(pauses).toBe(2);
  expect(counted(widen({ data: data.subarray(1), zeroPoint: 3 })).pauses).toBe(0);
});

it("takes what an executor has kept, and hands over what it may keep", () => {
  const tensor = f32([2], [1, 2]);
  const kept = new Map<unknown, Float64Array>();
  const widened = {
    get: (data: unknown) => kept.get(data),
    accepts: () => true,
    set: (data: unknown, wide: Float64Array) => void kept.set(data, wide),
  };
  const first = counted(widenOnce(tensor, { widened })).result;
  expect(counted(widenOnce(tensor, { widened })).result).toBe(first);
  expect(counted(widenOnce(tensor, {})).result).not.toBe(first);
});
