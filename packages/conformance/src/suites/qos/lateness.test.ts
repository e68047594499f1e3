import { describe, expect, it } from "vitest";
import { defaultAllowances } from "../allowances.ts";
import { long, moreRows, parts } from "./lateness.ts";

describe("the size of a long execution", () => {
  it("aims at 320 ms after an execution of known duration", () => {
    expect(moreRows(256, 160)).toBe(512);
    expect(moreRows(100, 240)).toBe(134);
  });

  it("grows by a quarter at least, and sixteenfold at most, even if the clock saw no time pass", () => {
    expect(moreRows(64, 249)).toBe(83);
    expect(moreRows(64, 300)).toBe(80);
    expect(moreRows(16, 1)).toBe(256);
    expect(moreRows(16, 0)).toBe(256);
  });

  it("is found too late with NONE after each deadline", () => {
    for (const part of parts) expect(long * (1 - part)).toBeGreaterThan(defaultAllowances.lateSuccess);
  });

  it("ends at tensors of 4096 rows", () => {
    expect(moreRows(4000, 300)).toBe(4096);
  });
});
