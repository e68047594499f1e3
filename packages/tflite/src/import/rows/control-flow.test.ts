import { elementAt } from "@nnhal/operations";
import { describe, expect, test } from "vitest";
import { execute, expectValid, modelOf, type SubgraphGiven, showSubgraph } from "../../_model.test-helper.ts";
import { importTflite } from "../import.ts";

const f = { type: "FLOAT32", shape: [2] } as const;
const flag = { type: "BOOL", shape: [] } as const;
const limit = { type: "FLOAT32", shape: [2], data: [10, 10] } as const;

const branch = (name: string): SubgraphGiven => ({
  tensors: { a: f, b: f },
  operators: [{ name, inputs: ["a", "a"], outputs: ["b"] }],
  inputs: ["a"],
  outputs: ["b"],
});

const conditional = (thenSubgraphIndex: number, elseSubgraphIndex: number): SubgraphGiven => ({
  tensors: { c: flag, x: f, y: f },
  operators: [{ name: "IF", inputs: ["c", "x"], outputs: ["y"], options: { thenSubgraphIndex, elseSubgraphIndex } }],
  inputs: ["c", "x"],
  outputs: ["y"],
});

/** An IF on a constant, so that it takes what its branches do. */
const nested = (index: number): SubgraphGiven => ({
  ...conditional(index, index),
  tensors: { c: { ...flag, data: [1] }, x: f, y: f },
  inputs: ["x"],
});

describe("IF", () => {
  test("runs one of two subgraphs", async () => {
    const imported = importTflite(modelOf(conditional(2, 1), branch("ADD"), branch("MUL")));
    expectValid(imported);
    const { model } = imported;
    expect(showSubgraph(model, model.main)).toEqual(["IF(in0, subgraph 0, subgraph 1, in1) -> out0"]);
    expect(model.referenced.flatMap((one) => showSubgraph(model, one))).toEqual([
      "MUL(in0, in0, 0) -> out0",
      "ADD(in0, in0, 0) -> out0",
    ]);
    expect(await execute(imported, [[1], [3, 4]])).toEqual([[9, 16]]);
    expect(await execute(imported, [[0], [3, 4]])).toEqual([[6, 8]]);
  });

  test("the same subgraph twice is imported once", () => {
    const { model } = importTflite(modelOf(conditional(1, 1), branch("ADD")));
    expect(showSubgraph(model, model.main)).toEqual(["IF(in0, subgraph 0, subgraph 0, in1) -> out0"]);
    expect(model.referenced).toHaveLength(1);
  });

  test("a branch that returns its input copies it", async () => {
    const same: SubgraphGiven = { tensors: { a: f }, operators: [], inputs: ["a"], outputs: ["a"] };
    const imported = importTflite(modelOf(conditional(1, 2), same, branch("ADD")));
    expectValid(imported);
    expect(showSubgraph(imported.model, elementAt(imported.model.referenced, 0))).toEqual(["CAST(in0) -> out0"]);
    expect(await execute(imported, [[1], [3, 4]])).toEqual([[3, 4]]);
  });

  test.each([
    [2, "subgraphs[0]: there is no subgraph 2 that an operator may run"],
    [-1, "subgraphs[0]: there is no subgraph -1 that an operator may run"],
    [0, "subgraphs[0]: there is no subgraph 0 that an operator may run"],
  ])("subgraph %d is refused", (index, message) => {
    expect(() => importTflite(modelOf(conditional(index, 1), branch("ADD")))).toThrow(message);
  });

  test.each([
    [
      { tensors: { a: { ...f, shape: [3] }, b: { ...f, shape: [3] } } },
      "inputs of thenSubgraphIndex: number 0 is TENSOR_FLOAT32[2] outside and TENSOR_FLOAT32[3] inside",
    ],
    [
      { tensors: { a: { type: "INT32", shape: [2] }, b: { type: "INT32", shape: [2] } } },
      "TENSOR_FLOAT32[2] outside and TENSOR_INT32[2] inside",
    ],
    [
      { inputs: [], tensors: { a: { ...f, data: [1, 2] }, b: f } },
      "inputs of thenSubgraphIndex: 0 are needed, there are 1",
    ],
    [{ outputs: ["b", "a"] }, "outputs of thenSubgraphIndex: 2 are needed, there are 1"],
  ] as const)("a branch that takes or gives something else is refused (%#)", (change, message) => {
    const model = modelOf(conditional(1, 2), { ...branch("ADD"), ...change }, branch("ADD"));
    expect(() => importTflite(model, { extensions: false })).toThrow(message);
  });

  test("a condition that is not one BOOL is refused", () => {
    const main = conditional(1, 1);
    const wide = { ...main, tensors: { ...main.tensors, c: { type: "BOOL", shape: [2] } as const } };
    expect(() => importTflite(modelOf(wide, branch("ADD")))).toThrow(
      "the condition has to be one TENSOR_BOOL8[1], it is TENSOR_BOOL8[2]",
    );
  });

  test("a subgraph that runs itself is refused", () => {
    const inner = { ...conditional(1, 1) };
    expect(() => importTflite(modelOf(conditional(1, 1), inner))).toThrow("subgraph 1 runs itself");
  });

  test("subgraphs that are nested too deep are refused", () => {
    const chain = (length: number) => modelOf(...Array.from({ length }, (_, i) => nested(i + 1)), branch("ADD"));
    expect(() => importTflite(chain(31))).not.toThrow();
    expect(() => importTflite(chain(32), { extensions: false })).toThrow("subgraphs name each other more than 32 deep");
    expect(() => importTflite(chain(5000), { extensions: false })).toThrow(
      "subgraphs name each other more than 32 deep",
    );
  });
});

test("WHILE runs its body until the condition is false", async () => {
  const main: SubgraphGiven = {
    tensors: { x: f, y: f },
    operators: [
      { name: "WHILE", inputs: ["x"], outputs: ["y"], options: { condSubgraphIndex: 1, bodySubgraphIndex: 2 } },
    ],
    inputs: ["x"],
    outputs: ["y"],
  };
  const condition: SubgraphGiven = {
    tensors: {
      a: f,
      limit,
      below: { type: "BOOL", shape: [2] },
      axis: { type: "INT32", shape: [], data: [0] },
      all: flag,
    },
    operators: [
      { name: "LESS", inputs: ["a", "limit"], outputs: ["below"] },
      { name: "REDUCE_ALL", inputs: ["below", "axis"], outputs: ["all"] },
    ],
    inputs: ["a"],
    outputs: ["all"],
  };
  const imported = importTflite(modelOf(main, condition, branch("ADD")));
  expectValid(imported);
  expect(showSubgraph(imported.model, imported.model.main)).toEqual(["WHILE(subgraph 0, subgraph 1, in0) -> out0"]);
  expect(await execute(imported, [[1, 3]])).toEqual([[4, 12]]);
  expect(await execute(imported, [[10, 3]])).toEqual([[10, 3]]);
});
