import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { byColumns, textWidth } from "./columns.ts";
import { fit } from "./fit.ts";
import { columns } from "./text.ts";

describe("byColumns", () => {
  it.each([
    ["plain", "plain"],
    ["猫", "\ue000\uf8ff"],
    ["猫と猫", "\ue000\uf8ff\ue001\uf8ff\ue000\uf8ff"],
    ["e\u0301", "\ue000"],
    ["👍🏽", "\ue000\uf8ff"],
    ["a\nｱ", "a\nｱ"],
    ["❤️", "❤️"],
    ["a\u200b", "\ue000"],
    ["\u200ba", "\u200ba"],
  ])("gives %j as many characters as it takes columns", (text, even) => {
    let given = "";
    const result = byColumns(text, (each) => {
      given = each;
      return each;
    });
    expect(given).toBe(even);
    expect(result).toBe(text);
  });

  it("changes no text that the work does not change", () => {
    const texts = fc.string({
      unit: fc.constantFrom("a", " ", "\n", "猫", "é", "e\u0301", "👩‍🚀", "한", "\u200b", "❤️", "\ue000"),
    });
    fc.assert(
      fc.property(texts, (text) => {
        expect(byColumns(text, (even) => even)).toBe(text);
      }),
    );
  });
});

describe("tables with letters of two columns", () => {
  const rows = [
    ["猫", "0.7", "from 1, 2"],
    ["traffic light", "0.25", "from 3, 4"],
    ["信号機", "0.1", "from 5, 6"],
  ];

  it("have straight columns", () => {
    const starts = columns(rows).map((line) => textWidth(line.slice(0, line.indexOf("from"))));
    expect(new Set(starts).size).toBe(1);
  });

  it("stay within the width of a terminal", () => {
    const text = columns([...rows, ["日本語".repeat(20), "0.5", "a remark of many words ".repeat(3)]]).join("\n");
    const lines = fit(`${text}\n${"猫 ".repeat(60)}`, 60).split("\n");
    // A word that is longer stays whole.
    for (const line of lines) if (!line.includes("日本語日本語")) expect(textWidth(line)).toBeLessThanOrEqual(60);
    expect(lines.join("").replaceAll(/\s/g, "")).toContain("信号機");
  });
});
