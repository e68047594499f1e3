import { expect, it } from "vitest";
import { median } from "./measure.ts";

it("takes the middle value, or the mean of the two in the middle", () => {
  expect(median([5])).toBe(5);
  expect(median([9, 1])).toBe(5);
  expect(median([9, 1, 2])).toBe(2);
  expect(median([4, 100, 1, 2])).toBe(3);
});
