import { describe, expect, it } from "vitest";
import { ranges } from "./explain-report.ts";

describe("ranges", () => {
  it.each([
    [[], ""],
    [[4], "5"],
    [[4, 5], "5, 6"],
    [[4, 5, 6], "5 to 7"],
    [[0, 2, 3, 4, 9], "1, 3 to 5, 10"],
  ])("%j is %j", (numbers, text) => {
    expect(ranges(numbers)).toBe(text);
  });
});
