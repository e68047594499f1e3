import { importTflite, readTflite, type TfliteModel, type TfliteTensor, writeTflite } from "@nnhal/tflite";
import { describe, expect, it } from "vitest";
import { pieceOf } from "./pieces.ts";

/** The operator at a place of the model's main subgraph. */
function cutOf(index: number) {
  const piece = pieceOf({ content: makeBranching(), importing: {} }, index);
  if (typeof piece === "string") throw new Error(piece);
  return piece;
}

const tensor = (name: string, given: Partial<TfliteTensor> = {}): TfliteTensor => ({
  ...{ name, type: "FLOAT32", shape: [2], isVariable: false },
  ...given,
});
const unary = (name: string) => ({
  ...{ name: name.toLowerCase(), tensors: [tensor("a"), tensor("b")], inputs: [0], outputs: [1] },
  operators: [{ name, version: 1, inputs: [0], outputs: [1], options: {} }],
});

/** x, then |x|, then RELU of it where `c`, else NEG. */
function makeBranching(): TfliteModel {
  const main = {
    name: "main",
    tensors: [tensor("c", { type: "BOOL", shape: [1] }), tensor("x"), tensor("abs"), tensor("y")],
    inputs: [0, 1],
    outputs: [3],
    operators: [
      { name: "ABS", version: 1, inputs: [1], outputs: [2], options: {} },
      { name: "IF", version: 1, inputs: [0, 2], outputs: [3], options: { thenSubgraphIndex: 1, elseSubgraphIndex: 2 } },
    ],
  };
  const subgraphs = [main, unary("RELU"), unary("NEG")];
  return readTflite(writeTflite({ version: 3, description: "", subgraphs, metadata: [], signatures: [] }));
}

describe("the file of one operator", () => {
  it("has its tensors, and no other", () => {
    const piece = cutOf(0);
    expect(piece.model.subgraphs.map(({ tensors }) => tensors.map(({ name }) => name))).toEqual([["x", "abs"]]);
    expect(piece.inputs.map(({ name }) => name)).toEqual(["x"]);
    expect(piece.outputs.map(({ name }) => name)).toEqual(["abs"]);
  });

  it("has the subgraphs that it calls, and can be imported", () => {
    const piece = cutOf(1);
    expect(piece.inputs.map(({ name }) => name)).toEqual(["c", "abs"]);
    const imported = importTflite(writeTflite(piece.model));
    expect(imported.model.main.operations).toHaveLength(1);
    expect(imported.model.referenced).toHaveLength(2);
  });

  it("is none for an operation that the import added", () => {
    expect(pieceOf({ content: makeBranching(), importing: {} }, 2)).toBe(
      "the import added it: the file has no such operator",
    );
  });
});
