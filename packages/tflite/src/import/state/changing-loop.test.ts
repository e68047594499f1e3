import { describe, expect, test } from "vitest";
import {
  execute,
  expectValid,
  modelOf,
  type OperatorGiven,
  problemOf,
  type SubgraphGiven,
} from "../../_model.test-helper.ts";
import { importTflite } from "../import.ts";

const f = { type: "FLOAT32", shape: [1] } as const;
const flag = { type: "BOOL", shape: [1] } as const;
const resource = { type: "RESOURCE", shape: [] } as const;
const constant = (value: number) => ({ ...f, data: [value] });

const handle = (to: string, sharedName = "v"): OperatorGiven => ({
  name: "VAR_HANDLE",
  inputs: [],
  outputs: [to],
  options: { container: "", sharedName },
});
const read = (from: string, to: string): OperatorGiven => ({ name: "READ_VARIABLE", inputs: [from], outputs: [to] });
const assign = (to: string, value: string): OperatorGiven => ({
  name: "ASSIGN_VARIABLE",
  inputs: [to, value],
  outputs: [],
});
const binary = (name: string, left: string, right: string, to: string): OperatorGiven => ({
  name,
  inputs: [left, right],
  outputs: [to],
});
const loop = { condSubgraphIndex: 1, bodySubgraphIndex: 2 };

/** WHILE over x; returns x and the variable. */
const main: SubgraphGiven = {
  tensors: { x: f, y: f, h: resource, v: f },
  operators: [{ name: "WHILE", inputs: ["x"], outputs: ["y"], options: loop }, handle("h"), read("h", "v")],
  inputs: ["x"],
  outputs: ["y", "v"],
};

/** v += 1; is x more than 0? */
const counting: SubgraphGiven = {
  tensors: { x: f, h: resource, v: f, one: constant(1), more: f, zero: constant(0), c: flag },
  operators: [
    ...[handle("h"), read("h", "v"), binary("ADD", "v", "one", "more"), assign("h", "more")],
    binary("GREATER", "x", "zero", "c"),
  ],
  inputs: ["x"],
  outputs: ["c"],
};

/** x -= 1. */
const falling: SubgraphGiven = {
  tensors: { x: f, one: constant(1), y: f },
  operators: [binary("SUB", "x", "one", "y")],
  inputs: ["x"],
  outputs: ["y"],
};

/** Results and the state after a run from a state. */
async function run(subgraphs: readonly SubgraphGiven[], x: number, state: number): Promise<number[]> {
  const imported = importTflite(modelOf(...subgraphs), { extensions: false });
  expectValid(imported);
  expect(imported.states).toEqual([{ name: "v", input: 1, output: 2 }]);
  return (await execute(imported, [[x], [state]])).flat();
}

describe("the condition of a WHILE that changes state", () => {
  test.each([
    [0, [0, 11]],
    [1, [0, 12]],
    [3, [0, 14]],
  ])("runs once more than the body, %d times", async (x, [y = 0, v = 0]) => {
    expect(await run([main, counting, falling], x, 10)).toEqual([y, v, v]);
  });

  test("and the body see each other's changes", async () => {
    // Condition: v *= 3, v < 40. Body: x += v, v -= 1.
    const condition: SubgraphGiven = {
      ...counting,
      tensors: { ...counting.tensors, one: constant(3), zero: constant(40) },
      operators: [
        ...[handle("h"), read("h", "v"), binary("MUL", "v", "one", "more"), assign("h", "more")],
        binary("LESS", "more", "zero", "c"),
      ],
    };
    const body: SubgraphGiven = {
      tensors: { x: f, h: resource, v: f, one: constant(1), less: f, y: f },
      operators: [
        ...[handle("h"), read("h", "v"), binary("ADD", "x", "v", "y")],
        ...[binary("SUB", "v", "one", "less"), assign("h", "less")],
      ],
      inputs: ["x"],
      outputs: ["y"],
    };
    // v: 6, 5, 15, 14, 42.
    expect(await run([main, condition, body], 100, 2)).toEqual([121, 42, 42]);
  });

  test("has variables that the body alone changes, and those that nothing changes, beside it", async () => {
    const other = (name: string): OperatorGiven[] => [handle("g", name), read("g", "w")];
    const body: SubgraphGiven = {
      tensors: { ...falling.tensors, g: resource, w: f, sum: f },
      operators: [...falling.operators, ...other("w"), binary("ADD", "w", "x", "sum"), assign("g", "sum")],
      inputs: ["x"],
      outputs: ["y"],
    };
    const condition: SubgraphGiven = {
      ...counting,
      tensors: { ...counting.tensors, g: resource, w: f },
      operators: [...other("limit"), ...counting.operators.slice(0, -1), binary("GREATER", "x", "w", "c")],
    };
    const imported = importTflite(modelOf(main, condition, body), { extensions: false });
    expectValid(imported);
    const places = new Map(imported.states.map(({ name, input, output }) => [name, { input, output }]));
    const given = [[5], [], [], []];
    for (const [name, value] of [
      ["v", 0],
      ["w", 100],
      ["limit", 3],
    ] as const)
      given[places.get(name)?.input ?? 0] = [value];
    const results = await execute(imported, given);
    expect(results[0]).toEqual([3]);
    expect(results[places.get("v")?.output ?? 0]).toEqual([3]);
    expect(results[places.get("w")?.output ?? 0]).toEqual([109]);
    expect(places.get("limit")?.output).toBeUndefined();
  });

  test.each([
    ["without a result", [main, { ...counting, outputs: [] }, falling], "subgraphs[1]: has no operators"],
    [
      "with a result that is not a condition",
      [main, { ...counting, outputs: ["more"] }, falling],
      "expected one TENSOR_BOOL8[1], got TENSOR_FLOAT32[1]",
    ],
    [
      "with fewer inputs than the body",
      [main, { ...counting, inputs: [], tensors: { ...counting.tensors, x: constant(1) } }, falling],
      "inputs of condSubgraphIndex",
    ],
    ["with a body that is not there", [main, counting], "there is no subgraph 2"],
  ] as const)("is refused %s", (_, subgraphs, message) => {
    expect(problemOf(modelOf(...subgraphs))).toContain(message);
  });
});
