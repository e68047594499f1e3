import type { Extension } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { mergeExtensions } from "./extensions.ts";

const tensor = { type: 1, isTensor: true, byteSize: 8 };
const scalar = { type: 0, isTensor: false, byteSize: 2 };
const example: Extension = { name: "com.example.a", operandTypes: [scalar, tensor] };

describe("mergeExtensions", () => {
  it("has each once, whatever the order of its types", () => {
    const turned = { ...example, operandTypes: [tensor, scalar] };
    const other = { name: "com.example.b", operandTypes: [] };
    const merged = mergeExtensions([
      { name: "first", extensions: [example] },
      { name: "second", extensions: [turned, other] },
    ]);
    expect(merged).toEqual({ extensions: [example, other], disabled: new Map() });
  });

  it.each([
    ["a type more", [scalar, tensor, { ...tensor, type: 2 }]],
    ["another size", [scalar, { ...tensor, byteSize: 4 }]],
    ["a tensor for a scalar", [{ ...scalar, isTensor: true }, tensor]],
  ])("leaves out one that a device describes with %s", (_, operandTypes) => {
    const merged = mergeExtensions([
      { name: "first", extensions: [example] },
      { name: "second", extensions: [{ ...example, operandTypes }] },
      { name: "third", extensions: [example] },
    ]);
    expect(merged.extensions).toEqual([]);
    expect([...merged.disabled]).toEqual([
      ["com.example.a", "first and second describe its operand types differently"],
    ]);
  });
});
