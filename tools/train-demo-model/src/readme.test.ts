import { expect, it } from "vitest";
import { agreement, agreementByDigit } from "./accuracy.ts";
import { LABELS } from "./glyphs.ts";
import { describeMeasured, replaceMeasured } from "./readme.ts";

const around = (text: string): string =>
  `# Title\n\n<!-- measured: begin -->\n${text}\n<!-- measured: end -->\n\nMore.\n`;

it("replaceMeasured changes what is between the markers and nothing else", () => {
  expect(replaceMeasured(around("old\n\nlines"), "new")).toBe(around("new"));
  expect(replaceMeasured(around("new"), "new")).toBe(around("new"));
  expect(() => replaceMeasured("# Title\n", "new")).toThrow(/measured: begin/);
  expect(() => replaceMeasured("<!-- measured: end --><!-- measured: begin -->", "new")).toThrow(/in this order/);
});

it("describeMeasured makes one row of every file", () => {
  const byDigit = LABELS.map((_, digit) => 90 + digit);
  const text = describeMeasured([{ name: "a.tflite", bytes: 1234, accuracy: 99.25, byDigit }], 2000, 99.9);
  expect(text).toContain("on 2000 fresh pictures");
  expect(text).toContain("| a.tflite | 1234 | 99.25 | 90.0 | 91.0 |");
  expect(text).toContain("99.90 %");
  const widths = text
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) => line.split("|").length);
  expect(new Set(widths)).toEqual(new Set([LABELS.length + 5]));
});

it("agreement counts equal answers, overall and by digit", () => {
  expect(agreement([1, 2, 3, 4], [1, 2, 3, 5])).toBe(75);
  expect(agreement([1], Uint8Array.of(1))).toBe(100);
  const digits = Uint8Array.from({ length: 20 }, (_, index) => index % 10);
  const answers = [...digits];
  answers[13] = 0;
  expect(agreementByDigit(answers, digits)).toEqual([100, 100, 100, 50, 100, 100, 100, 100, 100, 100]);
});
