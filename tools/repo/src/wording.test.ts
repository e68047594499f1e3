import { describe, expect, test } from "vitest";
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
  "has to be",
  "in vain",
  "is of no use",
  "where there is none",
  "`a number is needed`",
  "`a frame has come`",
  "the ticket",
  "sendTwin",
  "createBreather",
  "a Carrier",
  "rooms",
  "an angry driver",
])("%s is found, with its line", (form) => {
  expect(problemsOf(`// Here: ${form} x.`)).toEqual([expect.stringMatching(/^a\.ts:2: ".+": write /)]);
});

test("every form of the table is found by one of the lines above", () => {
  expect(avoidedForms).toHaveLength(19);
});

test("what only contains the letters of a form is left alone", () => {
  expect(problemsOf("// nobodyElse, this norm, is north, may note")).toEqual([]);
  expect(problemsOf("// There is no room. It is no more than 3.")).toEqual([]);
});

test("generated files are left alone", () => {
  expect(checkWording([{ path: "a.gen.ts", text: "// nobody" }])).toEqual([]);
});

describe("heads of comments", () => {
  const headsOf = (text: string) => checkWording([{ path: "packages/types/src/a.ts", text }]);

  test("a noun, a verb and a condition have no problem", () => {
    expect(
      headsOf("/** Number of bytes. What follows is free. */\n// Reads it.\n// How is in the next line.\n"),
    ).toEqual([]);
    expect(headsOf("/**\n * True if it has run.\n * Whether it runs again is open.\n */")).toEqual([]);
    expect(headsOf("/** However, Whatever, Howitzer */\nconst text = 'What';")).toEqual([]);
  });

  test.each([
    ["What", "/** What it is. */", 1],
    ["How", "\n/** How many bytes. */", 2],
    ["Whether", "\n  /**\n   * Whether it has run.\n   */", 3],
    ["What", "// What it is.", 1],
    ["How", "const a = 1;\n  // How it runs.\n", 2],
    ["Whether", "// Another comment.\n\n// Whether it has run.\n// Or not.", 3],
    ["What", "// Another comment.\r\n\r\n/**\r\n * What it is.\r\n */", 4],
  ])("%s at the beginning is found, with its line: %j", (word, text, line) => {
    expect(headsOf(text)).toEqual([
      expect.stringContaining(`packages/types/src/a.ts:${line}: a comment begins with "${word}"`),
    ]);
  });

  test("files elsewhere and generated files are left alone", () => {
    const text = "/** What it is. */";
    for (const path of ["docs/a.ts", "other/packages/types/a.ts", "packages/types/src/a.gen.ts"]) {
      expect(checkWording([{ path, text }])).toEqual([]);
    }
  });
});

describe("names of functions", () => {
  const namesOf = (text: string) => checkWording([{ path: "packages/types/src/a.ts", text }]);

  test("verbs have no problem, even with the letters of a participle, nor have longer names", () => {
    for (const name of ["feed", "bring", "embed", "fit", "ringBell", "sealedModel"]) {
      expect(namesOf(`function ${name}() {}`)).toEqual([]);
    }
    expect(namesOf("// the function given there\nconst fitted = 1;")).toEqual([]);
  });

  test.each([
    ["fitted", "export function fitted(a: number) {}"],
    ["fitted", "function fitted<T>(a: T) {}"],
    ["heard", "function* heard() {}"],
    ["knowing", "async function knowing() {}"],
  ])("the participle %s is found, with its line: %s", (name, text) => {
    expect(namesOf(`\n${text}`)).toEqual([
      `packages/types/src/a.ts:2: the function "${name}" is named by a participle: write a verb`,
    ]);
  });
});
