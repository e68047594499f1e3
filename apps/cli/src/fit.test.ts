import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fit, fitHelp } from "./fit.ts";
import { columns } from "./text.ts";

const longest = (text: string) => Math.max(...text.split("\n").map((line) => line.length));

describe("text for a terminal", () => {
  it("stays as it is for no terminal, and where it fits", () => {
    const text = `${"word ".repeat(30)}\n`;
    expect(fit(text, undefined)).toBe(text);
    expect(fit("a  b\nc\n\n", 80)).toBe("a  b\nc\n\n");
    expect(fit("x".repeat(40), 40)).toBe("x".repeat(40));
  });

  it("is broken between words, and words stay whole", () => {
    expect(fit(`  one ${"two ".repeat(9)}three`, 40)).toBe(`  one ${"two ".repeat(8).trim()}\n    two three`);
    const path = `/${"folder/".repeat(10)}`;
    expect(fit(`the file ${path} is not there`, 40)).toBe(`the file\n  ${path}\n  is not there`);
    // No terminal is so narrow.
    expect(fit("word ".repeat(8).trim(), 10)).toBe("word ".repeat(8).trim());
  });

  it("goes on below the last column of facts", () => {
    const facts = columns([
      ["model", "m.tflite"],
      ["about", "the most prominent object in the picture of some"],
    ]);
    expect(fit(facts.join("\n"), 40)).toBe(
      ["model  m.tflite", "about  the most prominent object in the", "       picture of some"].join("\n"),
    );
  });

  it("has columns that do not fit below the others, with the first again", () => {
    const rows = columns([
      ["", "min", "median", "p90", "a second", "cores", "of peak"],
      ["nnhal-ort", "1.25 ms", "1.30 ms", "1.41 ms", "769", "1.0", "12 %"],
    ]);
    expect(fit(rows.join("\n"), 40)).toBe(
      [
        "           min      median   p90",
        "nnhal-ort  1.25 ms  1.30 ms  1.41 ms",
        "",
        "           a second  cores  of peak",
        "nnhal-ort  769       1.0    12 %",
      ].join("\n"),
    );
  });

  it("is rows that go on below if the first column leaves no room for another", () => {
    const rows = columns([[`${"a".repeat(20)} ${"b".repeat(20)}`, "c", "d d ddddddddd dddd", "e", "f"]]);
    expect(fit(rows.join("\n"), 56).split("\n")).toEqual([
      `${"a".repeat(20)} ${"b".repeat(20)} c d d`,
      "ddddddddd dddd e f",
    ]);
  });

  it("fits, and loses no word", () => {
    const word = fc.string({ unit: fc.constantFrom("a", "b", "1", "."), minLength: 1, maxLength: 8 });
    const cell = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(" "));
    const row = fc.array(cell, { minLength: 1, maxLength: 7 });
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 5 }), fc.integer({ min: 60, max: 90 }), (rows, width) => {
        const text = columns(rows).join("\n");
        const fitted = fit(text, width);
        expect(longest(fitted)).toBeLessThanOrEqual(width);
        const words = fitted.split(/\s+/);
        for (const each of text.split(/\s+/)) expect(words).toContain(each);
      }),
    );
  });
});

describe("help for a terminal", () => {
  it("fills paragraphs anew, and leaves lists and options", () => {
    const help = [
      "Options:",
      "  --input <file>   a file for an input, in the order of",
      "                   the inputs",
      "Inputs:",
      "  The first bytes of a file say what",
      "  it is.",
      "Exit codes:",
      "  0  done",
      "  1  failed",
    ].join("\n");
    expect(fitHelp(help, 80)).toBe(help.replace("what\n  it is", "what it is"));
    expect(fitHelp("  The first bytes of a file say what it is", 40)).toBe(
      "  The first bytes of a file say what it\n  is",
    );
  });

  it("has commands that a shell takes", () => {
    const command = "  nnhal run detector.tflite street.jpg --labels coco.txt";
    expect(fitHelp(command, 56)).toBe(command);
    expect(fitHelp(command, 40)).toBe("  nnhal run detector.tflite street.jpg \\\n    --labels coco.txt");
  });
});
