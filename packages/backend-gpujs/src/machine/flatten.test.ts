import { expect, it } from "vitest";
import { flatten } from "./flatten.ts";

it("returns a flat list as it is", () => {
  const list = Float32Array.of(1, 2);
  expect(flatten(list, 2)).toBe(list);
});

it("joins lists of lists, and the four elements of threads", () => {
  const nested = [
    [Float32Array.of(1, 2), Float32Array.of(3, 4)],
    [
      [
        [5, 6],
        [7, 8],
      ],
    ],
  ];
  expect([...flatten(nested, 8)]).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

it("refuses a wrong length and a value that is not a list", () => {
  expect(() => flatten([Float32Array.of(1)], 2)).toThrow("gpu.js: expected 2 elements, got 1");
  expect(() => flatten([Float32Array.of(1, 2, 3)], 2)).toThrow();
  expect(() => flatten("12", 2)).toThrow("gpu.js did not return a list of numbers");
});
