import { describe, expect, test } from "vitest";
import {
  execute,
  expectValid,
  modelOf,
  type OperatorGiven,
  problemOf,
  type SubgraphGiven,
  showSubgraph,
} from "../../_model.test-helper.ts";
import { importTflite } from "../import.ts";
import { assign, binary, f, flag, handle, read, resource, runs } from "./_resources.test-helper.ts";

describe("state in subgraphs that operators run", () => {
  /** v += a; b = v, in a subgraph. */
  const inner: SubgraphGiven = {
    tensors: { a: f, h: resource, old: f, b: f },
    operators: [handle("h"), read("h", "old"), binary("ADD", ["old", "a"], "b"), assign("h", "b")],
    inputs: ["a"],
    outputs: ["b"],
  };
  const negative: SubgraphGiven = {
    tensors: { a: f, b: f },
    operators: [{ name: "NEG", inputs: ["a"], outputs: ["b"] }],
    inputs: ["a"],
    outputs: ["b"],
  };

  test("changes in the branch of an IF that runs", async () => {
    const main: SubgraphGiven = {
      tensors: { c: flag, x: f, y: f },
      operators: [
        {
          name: "IF",
          inputs: ["c", "x"],
          outputs: ["y"],
          options: { thenSubgraphIndex: 1, elseSubgraphIndex: 2 },
        },
      ],
      inputs: ["c", "x"],
      outputs: ["y"],
    };
    const imported = importTflite(modelOf(main, inner, negative));
    expect(imported.states).toEqual([{ name: "v", input: 2, output: 1 }]);
    const results = await runs(imported, [
      [[1], [1, 2]],
      [[0], [5, 5]],
      [[1], [1, 2]],
    ]);
    expect(results).toEqual([[[1, 2]], [[-5, -5]], [[2, 4]]]);
  });

  test("follows two CALLs of a subgraph", async () => {
    const call = (from: string, to: string): OperatorGiven => ({
      name: "CALL",
      inputs: [from],
      outputs: [to],
      options: { subgraph: 1 },
    });
    const main: SubgraphGiven = {
      tensors: { x: f, y: f, z: f },
      operators: [call("x", "y"), call("y", "z")],
      inputs: ["x"],
      outputs: ["z"],
    };
    const imported = importTflite(modelOf(main, inner));
    expect(imported.model.referenced).toHaveLength(1);
    expect(await runs(imported, [[[1, 2]], [[0, 0]]])).toEqual([[[2, 4]], [[4, 8]]]);
  });

  test("is carried by a WHILE; what it only reads comes last", async () => {
    const one = { type: "FLOAT32", shape: [1] } as const;
    // while (a < limit) { v += a; a += step }
    const main: SubgraphGiven = {
      tensors: { x: one, y: one },
      operators: [
        { name: "WHILE", inputs: ["x"], outputs: ["y"], options: { condSubgraphIndex: 1, bodySubgraphIndex: 2 } },
      ],
      inputs: ["x"],
      outputs: ["y"],
    };
    const condition: SubgraphGiven = {
      tensors: { a: one, h: resource, limit: one, c: { type: "BOOL", shape: [1] } },
      operators: [handle("h", "limit"), read("h", "limit"), binary("LESS", ["a", "limit"], "c")],
      inputs: ["a"],
      outputs: ["c"],
    };
    const body: SubgraphGiven = {
      tensors: { a: one, h: resource, old: one, sum: one, g: resource, step: one, next: one },
      operators: [
        handle("h"),
        read("h", "old"),
        binary("ADD", ["old", "a"], "sum"),
        assign("h", "sum"),
        handle("g", "step"),
        read("g", "step"),
        binary("ADD", ["a", "step"], "next"),
      ],
      inputs: ["a"],
      outputs: ["next"],
    };
    const imported = importTflite(modelOf(main, condition, body));
    expectValid(imported);
    expect(imported.states).toEqual([
      { name: "limit", input: 1 },
      { name: "v", input: 2, output: 1 },
      { name: "step", input: 3 },
    ]);
    expect(showSubgraph(imported.model, imported.model.main)).toEqual([
      "WHILE(subgraph 0, subgraph 1, in0, in2, in1, in3) -> out0, out1",
    ]);
    // 1 + 4 + 7 are added to 100, up to 10.
    expect(await execute(imported, [[1], [10], [100], [3]])).toEqual([[10], [112]]);
  });

  test("in a subgraph that gets its resource", async () => {
    const inside: SubgraphGiven = {
      tensors: { r: resource, a: f, old: f, b: f },
      operators: [read("r", "old"), binary("ADD", ["old", "a"], "b"), assign("r", "b")],
      inputs: ["r", "a"],
      outputs: ["b"],
    };
    const main: SubgraphGiven = {
      tensors: { x: f, h: resource, g: resource, y: f, z: f },
      operators: [
        handle("h"),
        handle("g", "w"),
        { name: "CALL", inputs: ["h", "x"], outputs: ["y"], options: { subgraph: 1 } },
        { name: "CALL", inputs: ["g", "y"], outputs: ["z"], options: { subgraph: 1 } },
      ],
      inputs: ["x"],
      outputs: ["y", "z"],
    };
    const imported = importTflite(modelOf(main, inside));
    expect(imported.states.map(({ name }) => name)).toEqual(["v", "w"]);
    const results = await runs(imported, [[[1, 2]], [[1, 2]]]);
    expect(results).toEqual([
      [
        [1, 2],
        [1, 2],
      ],
      [
        [2, 4],
        [3, 6],
      ],
    ]);
  });

  test("of a variable tensor changes only where its operator runs", async () => {
    const one = { type: "FLOAT32", shape: [1, 1] } as const;
    const r = { ...one, data: [1] } as const;
    const rnn: SubgraphGiven = {
      tensors: { a: one, r, b: { type: "FLOAT32", shape: [1], data: [0] }, s: { ...one, isVariable: true }, y: one },
      operators: [{ name: "RNN", inputs: ["a", "r", "r", "b", "s"], outputs: ["y"] }],
      inputs: ["a"],
      outputs: ["y"],
    };
    const same: SubgraphGiven = { tensors: { a: one }, operators: [], inputs: ["a"], outputs: ["a"] };
    const main: SubgraphGiven = {
      tensors: { c: flag, x: one, y: one },
      operators: [
        { name: "IF", inputs: ["c", "x"], outputs: ["y"], options: { thenSubgraphIndex: 1, elseSubgraphIndex: 2 } },
      ],
      inputs: ["c", "x"],
      outputs: ["y"],
    };
    const imported = importTflite(modelOf(main, rnn, same), { extensions: false });
    expect(imported.states).toEqual([{ name: "s", input: 2, output: 1 }]);
    const given = [
      [[1], [1]],
      [[0], [7]],
      [[1], [1]],
    ];
    expect(await runs(imported, given)).toEqual([[[1]], [[7]], [[2]]]);
  });

  test("in a subgraph that runs itself is refused", () => {
    const recursive: SubgraphGiven = {
      ...inner,
      operators: [...inner.operators, { name: "CALL", inputs: ["a"], outputs: [], options: { subgraph: 1 } }],
    };
    const main: SubgraphGiven = {
      tensors: { x: f, y: f },
      operators: [{ name: "CALL", inputs: ["x"], outputs: ["y"], options: { subgraph: 1 } }],
      inputs: ["x"],
      outputs: ["y"],
    };
    expect(problemOf(modelOf(main, recursive))).toContain("subgraph 1 runs itself");
  });

  test("at a depth that would take too long to examine is refused", () => {
    // Each subgraph runs the next one twice, with its resources in another order.
    const level = (index: number): SubgraphGiven => ({
      tensors: { p: resource, q: resource, x: f, y: f, z: f },
      operators: [
        { name: "CALL", inputs: ["p", "q", "x"], outputs: ["y"], options: { subgraph: index + 1 } },
        { name: "CALL", inputs: ["q", "p", "y"], outputs: ["z"], options: { subgraph: index + 1 } },
      ],
      inputs: ["p", "q", "x"],
      outputs: ["z"],
    });
    const last: SubgraphGiven = {
      tensors: { p: resource, q: resource, x: f },
      operators: [assign("p", "x")],
      inputs: ["p", "q", "x"],
      outputs: ["x"],
    };
    const chain = (length: number) => {
      const main: SubgraphGiven = {
        ...level(0),
        operators: [handle("p"), handle("q", "w"), ...level(0).operators],
        inputs: ["x"],
      };
      return modelOf(main, ...Array.from({ length }, (_, i) => level(i + 1)), last);
    };
    expect(importTflite(chain(20)).states).toHaveLength(2);
    expect(problemOf(chain(40))).toContain("subgraphs name each other more than 32 deep");
  });
});
