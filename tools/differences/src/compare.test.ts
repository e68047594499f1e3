import { describe, expect, it } from "vitest";
import { addDifferences, compareElements, isBiased, meanOf } from "./compare.ts";
import { documentWith } from "./table.ts";

describe("compareElements", () => {
  it("counts what differs, in each direction", () => {
    const difference = compareElements(Uint8Array.of(1, 2, 5, 9), Uint8Array.of(1, 3, 3, 9));
    expect(difference).toEqual({ elements: 4, differing: 2, largest: 2, sum: 1, above: 1, below: 1 });
    expect(meanOf(difference)).toBe(0.25);
    expect(addDifferences([difference, difference])).toMatchObject({ elements: 8, differing: 4, largest: 2, sum: 2 });
  });

  it("refuses results of different lengths", () => {
    expect(() => compareElements([1, 2], [1])).toThrow("2 elements, expected 1");
  });
});

describe("isBiased", () => {
  const differing = (above: number, below: number) => ({
    ...{ elements: 1000, differing: above + below, largest: 1, sum: above - below, above, below },
  });

  it("is more in one direction than chance explains", () => {
    expect(isBiased(differing(50, 50))).toBe(false);
    expect(isBiased(differing(70, 30))).toBe(false);
    expect(isBiased(differing(71, 29))).toBe(true);
    expect(isBiased(differing(29, 71))).toBe(true);
  });

  it("needs some differences", () => {
    expect(isBiased(differing(19, 0))).toBe(false);
    expect(isBiased(differing(20, 0))).toBe(true);
    expect(isBiased(differing(0, 0))).toBe(false);
  });
});

describe("documentWith", () => {
  const begin = "<!-- differences: written by `npm run differences -- --write` -->";
  const end = "<!-- end of differences -->";
  const litert = { elements: 4000, differing: 30, largest: 1, sum: -30, above: 0, below: 30 };
  const rows = [{ operator: "ADD", type: "INT8", results: { litert, tfjs: "it failed" }, variants: [] }] as const;

  it("puts the table between its marks, in place of the one that was there", () => {
    const once = documentWith(rows, `before\n${begin}\nstale\n${end}\nafter`);
    expect(once).toContain("| ADD | INT8 | 0.75 | 1 | -0.0075 | - | - | - |");
    expect(once).not.toContain("stale");
    expect(once.startsWith("before\n") && once.endsWith("\nafter")).toBe(true);
    expect(documentWith(rows, once)).toBe(once);
  });

  it("refuses a document without the marks", () => {
    expect(() => documentWith(rows, "text")).toThrow("no place for the table");
  });
});
