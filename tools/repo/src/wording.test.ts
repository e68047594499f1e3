import { expect, test } from "vitest";
import { avoidedForms, checkWording } from "./wording.ts";

const problemsOf = (line: string) => checkWording([{ path: "a.ts", text: `const a = 1;\n${line}\n` }]);

test("plain English has no problem", () => {
  expect(problemsOf("// Returns the value. There is no default, and it is no longer than 4 bytes.")).toEqual([]);
});

test.each([
  "nobody",
  "somebody's",
  "whoever",
  "but for",
  "is no tensor",
  "are no tensors",
  "may not",
  "gives what",
  "as good as none",
  "where there is none",
])("%s is found, with its line", (form) => {
  expect(problemsOf(`// Here: ${form} x.`)).toEqual([expect.stringMatching(/^a\.ts:2: ".+": write /)]);
});

test("every form of the table is found by one of the lines above", () => {
  expect(avoidedForms).toHaveLength(8);
});

test("what only contains the letters of a form is left alone", () => {
  expect(problemsOf("// nobodyElse, this norm, is north, may note")).toEqual([]);
  expect(problemsOf("// There is no room. It is no more than 3.")).toEqual([]);
});

test("generated files are left alone", () => {
  expect(checkWording([{ path: "a.gen.ts", text: "// nobody" }])).toEqual([]);
});
