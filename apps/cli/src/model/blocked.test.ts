import type { TfliteProblem } from "@nnhal/tflite";
import { describe, expect, test } from "vitest";
import { blockedFailure } from "./blocked.ts";

function problemAt(index: number, message: string, more: Partial<TfliteProblem> = {}, subgraph = 0): TfliteProblem {
  const operator = { subgraph, index, name: "CUSTOM", customCode: "Frob", version: 1 };
  return { path: `subgraphs[${subgraph}].operators[${index}] (CUSTOM version 1)`, message, operator, ...more };
}

const linesOf = (problems: readonly TfliteProblem[], problemCount = problems.length) =>
  blockedFailure("folder/some.tflite", { problems, problemCount }).message.split("\n");

describe("blockedFailure", () => {
  test("of one problem is one line, with what helps", () => {
    expect(linesOf([problemAt(3, "is not known", { help: "add it" })])).toEqual([
      "the model some.tflite cannot be used: subgraphs[0].operators[3] (CUSTOM version 1): is not known; add it",
    ]);
    expect(linesOf([{ path: "", message: "the file is empty" }])).toEqual([
      "the model some.tflite cannot be used: the file is empty",
    ]);
  });

  test("has a line for each kind of problem, with the places of those that are alike", () => {
    const problems = [
      problemAt(0, "is not known"),
      problemAt(2, "has an input of type INT4"),
      problemAt(5, "is not known"),
      problemAt(1, "is not known", {}, 2),
      { path: "subgraphs[0].tensors[4]", message: "is not known" },
    ];
    expect(linesOf(problems)).toEqual([
      "the model some.tflite cannot be used: 5 problems",
      "  3 x CUSTOM Frob version 1 (operators 0, 5, 2/1): is not known",
      "  subgraphs[0].operators[2] (CUSTOM version 1): has an input of type INT4",
      "  subgraphs[0].tensors[4]: is not known",
      "nnhal info folder/some.tflite shows each in its place",
    ]);
  });

  test("keeps operators apart that differ in version, reason or help", () => {
    const [first = problemAt(0, "")] = [problemAt(0, "is not known")];
    const operator = { subgraph: 0, index: 1, name: "CUSTOM", customCode: "Frob", version: 2 };
    const lines = linesOf([
      first,
      { ...first, operator },
      { ...first, message: "is other" },
      { ...first, help: "add it" },
    ]);
    expect(lines).toHaveLength(4 + 2);
  });

  test.each([
    [20, 20, undefined],
    [21, 19, "  and 2 more"],
    [90, 19, "  and 71 more"],
  ])("of %d kinds shows %d", (count, shown, rest) => {
    const lines = linesOf(Array.from({ length: count }, (_, index) => problemAt(index, `reason ${index}`)));
    expect(lines).toHaveLength(1 + shown + (rest === undefined ? 0 : 1) + 1);
    expect(lines.find((line) => line.startsWith("  and "))).toBe(rest);
  });

  test("counts those that the file's list leaves out, and names the first places", () => {
    const problems = Array.from({ length: 100 }, (_, index) => problemAt(index, "is not known"));
    expect(linesOf(problems, 250).slice(0, 3)).toEqual([
      "the model some.tflite cannot be used: 250 problems",
      "  100 x CUSTOM Frob version 1 (operators 0, 1, 2, 3, 4, 5, 6, 7, …): is not known",
      "  and 150 more",
    ]);
  });

  test("keeps a message of the file in its line", () => {
    const [, line] = linesOf([problemAt(0, "a\nb"), problemAt(1, "c")]);
    expect(line).toBe("  subgraphs[0].operators[0] (CUSTOM version 1): a b");
  });
});
