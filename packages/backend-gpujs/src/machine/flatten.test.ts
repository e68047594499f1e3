import { expect, it } from "vitest";
import { flatten } from "./flatten.ts";

it("is the same list where it is one already", () => {
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

it("refuses what has another length or is no list", () => {
  expect(() => flatten([Float32Array.of(1)], 2)).toThrow("gpu.js gave 1 elements where 2 are needed");
  expect(() => flatten([Float32Array.of(1, 2, 3)], 2)).toThrow();
  expect(() => flatten("12", 2)).toThrow("gpu.js gave something that is no list of numbers");
});
