import { describe, expect, it } from "vitest";
import { formatExplanation, ranges } from "./explain-report.ts";

describe("formatExplanation", () => {
  it("names the versions of devices that differ", () => {
    const halVersions = { one: "1.2", two: "aidl3", three: "1.2" } as const;
    const facts = { model: "m", policy: "cost", preference: "LOW_POWER", devices: Object.keys(halVersions) };
    const text = formatExplanation({ ...facts, halVersions, operations: [], steps: [] });
    expect(text).toContain("\nHAL      devices of 1.2 (one, three), aidl3 (two)\n");
  });
});

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
