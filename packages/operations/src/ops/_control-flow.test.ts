/**
 * Signatures of IF and WHILE; the executor interprets them.
 */
import { OperationType } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { type MaybeType, matchOperation } from "../match.ts";
import { if_ } from "./if.ts";
import { while_ } from "./while.ts";

const { IF, WHILE } = OperationType;
const subgraph = "SUBGRAPH";
/** Operands of every sort: tensors, a scalar, and one of an extension type. */
const several: readonly MaybeType[] = ["TENSOR_FLOAT32", "INT32", undefined];

describe("IF's signature", () => {
  it.each([
    { inputs: [], outputs: [] },
    { inputs: [], outputs: several },
    { inputs: several, outputs: [] },
    { inputs: several, outputs: several },
  ])("takes $inputs.length inputs and $outputs.length outputs of any types, from HAL 1.3", ({ inputs, outputs }) => {
    const match = matchOperation(if_, ["TENSOR_BOOL8", subgraph, subgraph, ...inputs], outputs);
    expect(match).toMatchObject({ since: "1.3" });
  });

  it.each<[string, readonly MaybeType[], string]>([
    [
      "a condition that is a scalar",
      ["BOOL", subgraph, subgraph],
      "input 0 (condition): expected TENSOR_BOOL8, got BOOL",
    ],
    [
      "a condition of an extension type",
      [undefined, subgraph, subgraph],
      "input 0 (condition): expected TENSOR_BOOL8, got an extension type",
    ],
    [
      "a branch that is not a subgraph",
      ["TENSOR_BOOL8", "INT32", subgraph],
      "input 1 (then): expected SUBGRAPH, got INT32",
    ],
    [
      "an alternative that is none",
      ["TENSOR_BOOL8", subgraph, "INT32"],
      "input 2 (else): expected SUBGRAPH, got INT32",
    ],
    [
      "too few inputs",
      ["TENSOR_BOOL8", subgraph],
      "expected at least 3 inputs and at least 0 outputs, got 2 inputs and 1 outputs",
    ],
    ["no inputs", [], "got 0 inputs and 1 outputs"],
  ])("refuses %s", (_, inputs, message) => {
    const match = matchOperation(if_, inputs, ["TENSOR_FLOAT32"]);
    expect(match).toEqual({ mismatch: expect.stringContaining(message) });
  });

  it("has no kernel", () => {
    expect(if_).toMatchObject({ name: "IF", code: IF, controlFlow: true });
    expect(if_.reference).toBeUndefined();
  });
});

describe("WHILE's signature", () => {
  it.each([
    { inputs: [], outputs: [] },
    { inputs: several, outputs: [] },
    { inputs: several, outputs: several },
  ])("takes $inputs.length inputs and $outputs.length outputs of any types, from HAL 1.3", ({ inputs, outputs }) => {
    expect(matchOperation(while_, [subgraph, subgraph, ...inputs], outputs)).toMatchObject({ since: "1.3" });
  });

  it.each<[string, readonly MaybeType[], string]>([
    [
      "a condition that is not a subgraph",
      ["TENSOR_BOOL8", subgraph],
      "input 0 (condition): expected SUBGRAPH, got TENSOR_BOOL8",
    ],
    ["a body that is not a subgraph", [subgraph, "INT32"], "input 1 (body): expected SUBGRAPH, got INT32"],
    ["a body of an extension type", [subgraph, undefined], "input 1 (body): expected SUBGRAPH, got an extension type"],
    ["too few inputs", [subgraph], "expected at least 2 inputs and at least 0 outputs, got 1 inputs and 1 outputs"],
  ])("refuses %s", (_, inputs, message) => {
    const match = matchOperation(while_, inputs, ["TENSOR_FLOAT32"]);
    expect(match).toEqual({ mismatch: expect.stringContaining(message) });
  });

  it("has no kernel", () => {
    expect(while_).toMatchObject({ name: "WHILE", code: WHILE, controlFlow: true });
    expect(while_.reference).toBeUndefined();
  });
});
