import { describe, expect, test } from "vitest";
import { execute, expectValid, modelOf, type SubgraphGiven, showSubgraph } from "../../_model.test-helper.ts";
import { readTflite } from "../../read.ts";
import { writeTflite } from "../../write.ts";
import { importTflite } from "../import.ts";
import { assign, binary, f, handle, read, resource, runs } from "../state/_resources.test-helper.ts";

const index = { type: "INT32", shape: [] } as const;

const main = (branchSubgraphIndices: readonly number[]): SubgraphGiven => ({
  tensors: { i: index, x: f, y: f },
  operators: [{ name: "STABLEHLO_CASE", inputs: ["i", "x"], outputs: ["y"], options: { branchSubgraphIndices } }],
  inputs: ["i", "x"],
  outputs: ["y"],
});

/** y = x + offset. */
const plus = (offset: number): SubgraphGiven => ({
  tensors: { a: f, c: { ...f, data: [offset, offset] }, b: f },
  operators: [{ name: "ADD", inputs: ["a", "c"], outputs: ["b"] }],
  inputs: ["a"],
  outputs: ["b"],
});

const branches = (count: number) => Array.from({ length: count }, (_, i) => plus(10 * (i + 1)));
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

describe("STABLEHLO_CASE", () => {
  test.each([1, 2, 3, 4, 5, 8])("of %d branches: an index out of range chooses the last", async (count) => {
    const imported = importTflite(readTflite(writeTflite(modelOf(main(upTo(count)), ...branches(count)))));
    expectValid(imported);
    for (const i of [-(2 ** 31), -1, ...upTo(count).map((place) => place - 1), count, 2 ** 31 - 1]) {
      const offset = 10 * (i >= 0 && i < count ? i + 1 : count);
      expect(await execute(imported, [[i], [1, 2]])).toEqual([[offset + 1, offset + 2]]);
    }
  });

  test("becomes IFs that halve the branches", () => {
    const { model } = importTflite(modelOf(main([1, 2]), ...branches(2)));
    expect(showSubgraph(model, model.main).at(-1)).toMatch(/^IF\(t\d+, subgraph 0, subgraph 1, in1\) -> out0$/);
    expect(importTflite(modelOf(main(upTo(5)), ...branches(5))).model.referenced).toHaveLength(5 + 4);
  });

  test("the operators of its branches are reported, and those that the import makes are not", () => {
    const { operators } = importTflite(modelOf(main(upTo(5)), ...branches(5)));
    expect(operators.every(({ name, index: place }) => name === "STABLEHLO_CASE" && place === 0)).toBe(true);
  });

  test("changes state in the branch that runs", async () => {
    const counting: SubgraphGiven = {
      tensors: { a: f, h: resource, old: f, b: f },
      operators: [handle("h"), read("h", "old"), binary("ADD", ["old", "a"], "b"), assign("h", "b")],
      inputs: ["a"],
      outputs: ["b"],
    };
    const imported = importTflite(modelOf(main([1, 2, 3]), plus(10), counting, plus(20)));
    expect(imported.states.map(({ name }) => name)).toEqual(["v"]);
    const results = await runs(imported, [
      [[1], [1, 2]],
      [[0], [1, 2]],
      [[1], [3, 4]],
      [[2], [1, 2]],
    ]);
    expect(results).toEqual([[[1, 2]], [[11, 12]], [[4, 6]], [[21, 22]]]);
  });

  test.each([
    [[], "option branchSubgraphIndices has to list 1 to 256 subgraphs, it lists 0"],
    [new Array<number>(257).fill(1), "option branchSubgraphIndices has to list 1 to 256 subgraphs, it lists 257"],
    [[1, 7], "there is no subgraph 7 that an operator may run"],
    [[7, 1, 1], "there is no subgraph 7 that an operator may run"],
    [[1, 0], "there is no subgraph 0 that an operator may run"],
  ])("of other branches is refused (%#)", (list, message) => {
    expect(() => importTflite(modelOf(main(list), plus(10)))).toThrow(message);
  });

  test("of 256 branches can be imported", () => {
    expect(importTflite(modelOf(main(new Array<number>(256).fill(1)), plus(10))).model.main.operations.length).toBe(4);
  });

  test.each([
    [{ type: "INT32", shape: [2] } as const, "input 0 (branch): expected one INT32, got TENSOR_INT32[2]"],
    [{ type: "FLOAT32", shape: [] } as const, "input 0 (branch): expected one INT32, got TENSOR_FLOAT32[1]"],
  ])("of an index %j is refused", (i, message) => {
    const { tensors, ...rest } = main([1, 2]);
    expect(() => importTflite(modelOf({ ...rest, tensors: { ...tensors, i } }, ...branches(2)))).toThrow(message);
  });

  test("a branch that runs itself is refused", () => {
    const { tensors, ...rest } = main([1, 2, 2]);
    const inner = { ...rest, tensors: { ...tensors, i: { ...index, data: [0] } }, inputs: ["x"] };
    expect(() => importTflite(modelOf(main([1, 2, 2]), inner, plus(10)))).toThrow("subgraph 1 runs itself");
  });
});
