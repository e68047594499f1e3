import { changePart, listRules } from "@nnhal/test-kit/models";
import type { Extension } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { extensionIssues, validateExtensions } from "./index.ts";

const control: readonly Extension[] = [
  {
    name: "com.example.fibonacci",
    operandTypes: [
      { type: 0, isTensor: false, byteSize: 8 },
      { type: 0xffff, isTensor: true, byteSize: 8 },
    ],
  },
  { name: "com.example.other_2", operandTypes: [] },
];

function issuesOf(path: string, value: unknown): string[] {
  return listRules(extensionIssues(changePart(control, path, value)));
}

describe("extensions", () => {
  it("of the control are valid", () => {
    expect(extensionIssues(control)).toEqual([]);
    expect(extensionIssues([])).toEqual([]);
    expect(validateExtensions(control)).toBe(true);
  });

  it("have a reverse domain name (rule 64)", () => {
    for (const name of ["a.b", "com.example.a_1", "1.2"]) expect(issuesOf("[0].name", name)).toEqual([]);
    for (const name of [
      "",
      "fibonacci",
      "com.Example",
      "com.example-x",
      ".com",
      "com.",
      "com..x",
      "com.é",
      "com.x\n",
      7,
      null,
    ]) {
      expect(issuesOf("[0].name", name)).toEqual(["extension-name extensions[0].name"]);
    }
    expect(issuesOf("[0].name", "a".repeat(100_000))).toEqual(["extension-name extensions[0].name"]);
  });

  it("are named once (rule 64)", () => {
    expect(issuesOf("[1].name", "com.example.fibonacci")).toEqual(["extension-name extensions[1].name"]);
  });

  it("describe types of 16 bits, each once (rule 65)", () => {
    const path = "[0].operandTypes[1].type";
    for (const type of [1, 0x8000, 0xffff]) expect(issuesOf(path, type)).toEqual([]);
    for (const type of [0, -1, 0x1_0000, 0.5, "1"]) {
      expect(issuesOf(path, type)).toEqual([`extension-operand-type extensions${path}`]);
    }
  });

  it("give the size of their types (rule 65)", () => {
    const path = "[0].operandTypes[1].byteSize";
    for (const byteSize of [0, 1, 0xffff_ffff]) expect(issuesOf(path, byteSize)).toEqual([]);
    for (const byteSize of [-1, 0.5, 2 ** 32, Number.NaN, undefined]) {
      expect(issuesOf(path, byteSize)).toEqual([`extension-operand-type extensions${path}`]);
    }
  });

  it("are as declared (rule 56)", () => {
    expect(issuesOf("[0]", null)).toEqual(["structure extensions[0]"]);
    expect(issuesOf("[0].operandTypes", {})).toEqual(["structure extensions[0].operandTypes"]);
    expect(issuesOf("[0].operandTypes[0]", null)).toEqual(["structure extensions[0].operandTypes[0]"]);
    expect(issuesOf("[0].operandTypes[0].isTensor", 1)).toEqual(["structure extensions[0].operandTypes[0]"]);
    const { extensions } = changePart({ extensions: control }, "extensions", null);
    expect(listRules(extensionIssues(extensions))).toEqual(["structure extensions"]);
  });
});
