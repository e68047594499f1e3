import { describe, expect, it } from "vitest";
import { moreRows } from "./lateness.ts";

describe("the size of a long execution", () => {
  it("aims at 500 ms after an execution of known duration", () => {
    expect(moreRows(256, 250)).toBe(512);
    expect(moreRows(100, 300)).toBe(167);
  });

  it("grows by a quarter at least, and sixteenfold at most, even if the clock saw no time pass", () => {
    expect(moreRows(64, 399)).toBe(81);
    expect(moreRows(64, 450)).toBe(80);
    expect(moreRows(16, 1)).toBe(256);
    expect(moreRows(16, 0)).toBe(256);
  });

  it("ends at tensors of 4096 rows", () => {
    expect(moreRows(4000, 300)).toBe(4096);
  });
});
