import { elementAt } from "@nnhal/operations";
import { describe, expect, test } from "vitest";
import {
  execute,
  executeBytes,
  expectValid,
  modelOf,
  type OperatorGiven,
  problemOf,
  type SubgraphGiven,
  showSubgraph,
} from "../../_model.test-helper.ts";
import { TfliteError } from "../../error.ts";
import type { TfliteModel } from "../../model.ts";
import { createStates } from "../../states.ts";
import { type ImportedModel, importTflite } from "../import.ts";

const f = { type: "FLOAT32", shape: [2] } as const;
const resource = { type: "RESOURCE", shape: [] } as const;
const flag = { type: "BOOL", shape: [] } as const;

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
const binary = (name: string, inputs: readonly string[], to: string): OperatorGiven => ({
  name,
  inputs,
  outputs: [to],
});
const once = (initSubgraphIndex: number): OperatorGiven => ({
  name: "CALL_ONCE",
  inputs: [],
  outputs: [],
  options: { initSubgraphIndex },
});

/** v += x; y = v. */
const accumulate: SubgraphGiven = {
  tensors: { x: f, h: resource, old: f, y: f },
  operators: [handle("h"), read("h", "old"), binary("ADD", ["old", "x"], "y"), assign("h", "y")],
  inputs: ["x"],
  outputs: ["y"],
};

/** v = data. */
const initialise = (data: readonly number[]): SubgraphGiven => ({
  tensors: { h: resource, c: { ...f, data } },
  operators: [handle("h"), assign("h", "c")],
  inputs: [],
  outputs: [],
});

/** Runs a model several times; its states follow. The other outputs of each run. */
async function runs(imported: ImportedModel, given: readonly (readonly number[][])[]): Promise<number[][][]> {
  expectValid(imported);
  const { states, inputs, outputs } = imported;
  const values = new Map<number, number[]>();
  for (const { input, initial } of states) {
    const { shape, tensorType } = inputs[input] ?? {};
    const bytes = initial?.slice().buffer;
    const zeros = new Array<number>((shape ?? []).reduce((size, extent) => size * extent, 1)).fill(0);
    values.set(input, bytes && tensorType === "FLOAT32" ? [...new Float32Array(bytes)] : zeros);
  }
  const own = [...inputs.keys()].filter((place) => !values.has(place));
  const kept = new Set(states.map(({ output }) => output));
  const results: number[][][] = [];
  for (const round of given) {
    const args = inputs.map((_, place) => values.get(place) ?? round[own.indexOf(place)] ?? []);
    const result = await execute(imported, args);
    for (const { input, output } of states) if (output !== undefined) values.set(input, result[output] ?? []);
    results.push(outputs.flatMap((_, place) => (kept.has(place) ? [] : [result[place] ?? []])));
  }
  return results;
}

describe("resource variables", () => {
  test("are an input and an output", async () => {
    const imported = importTflite(modelOf(accumulate), { extensions: false });
    expect(imported.states).toEqual([{ name: "v", input: 1, output: 1 }]);
    expect(showSubgraph(imported.model, imported.model.main)).toEqual([
      "ADD(in1, in0, 0) -> out0",
      "CAST(out0) -> out1",
    ]);
    expect(await runs(imported, [[[1, 2]], [[10, 20]], [[100, 200]]])).toEqual([[[1, 2]], [[11, 22]], [[111, 222]]]);
  });

  test("have the constants of CALL_ONCE as first values", async () => {
    const model = modelOf({ ...accumulate, operators: [once(1), ...accumulate.operators] }, initialise([5, 6]));
    const imported = importTflite(model);
    expect(imported.states).toEqual([
      { name: "v", input: 1, output: 1, initial: new Uint8Array(Float32Array.of(5, 6).buffer), initialShape: [2] },
    ]);
    expect(await runs(imported, [[[1, 1]], [[1, 1]]])).toEqual([[[6, 7]], [[7, 8]]]);
  });

  test("that only CALL_ONCE assigns are constants", async () => {
    const main: SubgraphGiven = {
      tensors: { x: f, h: resource, w: f, y: f },
      operators: [once(1), handle("h"), read("h", "w"), binary("MUL", ["x", "w"], "y")],
      inputs: ["x"],
      outputs: ["y"],
    };
    const imported = importTflite(modelOf(main, initialise([5, 6])), { extensions: false });
    expect(imported.states).toEqual([]);
    expect(showSubgraph(imported.model, imported.model.main)).toEqual(["MUL(in0, FLOAT32[2](5,6), 0) -> out0"]);
    expect(await runs(imported, [[[1, 2]]])).toEqual([[[5, 12]]]);
  });

  test("that an execution only reads are not an output", () => {
    const main: SubgraphGiven = {
      tensors: { x: f, h: resource, w: f, y: f },
      operators: [handle("h"), read("h", "w"), binary("MUL", ["x", "w"], "y")],
      inputs: ["x"],
      outputs: ["y"],
    };
    expect(importTflite(modelOf(main)).states).toEqual([{ name: "v", input: 1 }]);
  });

  test("have the value of the last assignment, and are read as they are at that time", async () => {
    const main: SubgraphGiven = {
      tensors: { x: f, h: resource, a: f, b: f, c: f },
      operators: [
        handle("h"),
        read("h", "a"),
        assign("h", "x"),
        read("h", "b"),
        binary("SUB", ["b", "a"], "c"),
        assign("h", "c"),
      ],
      inputs: ["x"],
      outputs: ["a", "b", "c"],
    };
    expect(await runs(importTflite(modelOf(main)), [[[4, 9]], [[1, 1]]])).toEqual([
      [
        [0, 0],
        [4, 9],
        [4, 9],
      ],
      [
        [4, 9],
        [1, 1],
        [-3, -8],
      ],
    ]);
  });

  test.each([
    ["INT8", [100, -100]],
    ["INT16", [30000, -3]],
    ["INT32", [70000, -7]],
    ["INT64", [2 ** 40, -1]],
    ["BOOL", [1, 0]],
    ["UINT8", [200, 3]],
    ["FLOAT64", [0.1, 2 ** 60]],
  ] as const)("of %s keep their elements", async (type, values) => {
    const t = { type, shape: [2] } as const;
    const main: SubgraphGiven = {
      tensors: { x: t, h: resource, old: t },
      operators: [handle("h"), read("h", "old"), assign("h", "x")],
      inputs: ["x"],
      outputs: ["old"],
    };
    const imported = importTflite(modelOf(main));
    expect(await runs(imported, [[[...values]], [[0, 0]], [[1, 1]]])).toEqual([[[0, 0]], [[...values]], [[0, 0]]]);
  });

  test("of one name in two containers are two", () => {
    const other = { ...handle("g"), options: { container: "c", sharedName: "v" } };
    const main: SubgraphGiven = {
      tensors: { x: f, h: resource, g: resource },
      operators: [handle("h"), other, assign("h", "x"), assign("g", "x")],
      inputs: ["x"],
      outputs: ["x"],
    };
    expect(importTflite(modelOf(main)).states.map(({ name }) => name)).toEqual(["v", "c/v"]);
  });

  test("that differ in type are refused", () => {
    const main: SubgraphGiven = {
      tensors: { x: f, h: resource, old: { type: "INT32", shape: [2] } },
      operators: [handle("h"), assign("h", "x"), read("h", "old")],
      inputs: ["x"],
      outputs: ["x", "old"],
    };
    expect(problemOf(modelOf(main))).toContain(
      'operators[2] (READ_VARIABLE version 1): "v" is INT32[2] here and FLOAT32[2] elsewhere',
    );
  });

  test("whose handle is not known are refused", () => {
    const main: SubgraphGiven = {
      tensors: { x: f, h: resource, old: f },
      operators: [assign("h", "x"), read("h", "old")],
      inputs: ["x", "h"],
      outputs: ["old"],
    };
    const problem = "its resource (input 0) has to be made by a VAR_HANDLE or HASHTABLE of the file";
    expect(problemOf(modelOf(main))).toContain(`(READ_VARIABLE version 1): ${problem}`);
    expect(problemOf(modelOf(main))).toContain(`(ASSIGN_VARIABLE version 1): ${problem}`);
  });
});

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

describe("CALL_ONCE", () => {
  /** v = w + w. */
  const init: SubgraphGiven = {
    tensors: { h: resource, c: { ...f, data: [2, 3] }, d: f },
    operators: [handle("h"), binary("ADD", ["c", "c"], "d"), assign("h", "d")],
    inputs: [],
    outputs: [],
  };
  const main: SubgraphGiven = { ...accumulate, operators: [once(1), ...accumulate.operators] };

  test("that computes runs in the first execution alone", async () => {
    const imported = importTflite(modelOf(main, init), { extensions: false });
    expect(imported.states).toEqual([
      { name: "initialised by subgraph 1", input: 1, output: 1 },
      { name: "v", input: 2, output: 2 },
    ]);
    expect(await runs(imported, [[[1, 1]], [[1, 1]], [[1, 1]]])).toEqual([[[5, 7]], [[6, 8]], [[7, 9]]]);
  });

  test("after another use of state runs at its place", async () => {
    const late = { ...accumulate, operators: [...accumulate.operators, once(1)] };
    const imported = importTflite(modelOf(late, initialise([5, 6])));
    expect(await runs(imported, [[[1, 1]], [[1, 1]], [[1, 1]]])).toEqual([[[1, 1]], [[6, 7]], [[7, 8]]]);
  });

  test("of a subgraph that is not there is refused", () => {
    expect(problemOf(modelOf(main))).toContain(
      "(CALL_ONCE version 1): there is no subgraph 1 that an operator may run",
    );
  });
});

test.each([["open", [-1]] as const, ["stored", undefined] as const])(
  "a variable whose value grows from one execution to the next (%s)",
  async (_, shapeSignature) => {
    const grown = (size: number) =>
      ({ type: "FLOAT32", shape: [size], ...(shapeSignature && { shapeSignature }) }) as const;
    const main: SubgraphGiven = {
      tensors: { x: f, h: resource, old: grown(2), y: grown(4), z: grown(4) },
      operators: [
        ...[once(1), handle("h"), read("h", "old")],
        { ...binary("CONCATENATION", ["old", "x"], "y"), options: { axis: 0 } },
        ...[assign("h", "y"), { name: "NEG", inputs: ["y"], outputs: ["z"] }],
      ],
      inputs: ["x"],
      outputs: ["z"],
    };
    const imported = importTflite(modelOf(main, initialise([5, 6])));
    expectValid(imported);
    const states = createStates(imported);
    const x = { bytes: new Uint8Array(Float32Array.of(1, 2).buffer), dimensions: [2] };
    const seen: number[][] = [];
    for (let run = 0; run < 3; run++) {
      const results = await executeBytes(imported, [x, ...states.inputs(imported)]);
      states.update(imported, (index) => elementAt(results, index));
      seen.push([...new Float32Array(elementAt(results, 0).bytes.slice().buffer)]);
    }
    expect(seen).toEqual([
      [-5, -6, -1, -2],
      [-5, -6, -1, -2, -1, -2],
      [-5, -6, -1, -2, -1, -2, -1, -2],
    ]);
    states.reset();
    expect(states.get("v").dimensions).toEqual([2]);
  },
);

describe("signatures", () => {
  const withSignatures = (model: TfliteModel): TfliteModel => ({
    ...model,
    signatures: [
      { key: "add", subgraph: 0, inputs: [{ name: "x", tensor: 0 }], outputs: [{ name: "y", tensor: 3 }] },
      { key: "get", subgraph: 1, inputs: [], outputs: [{ name: "v", tensor: 1 }] },
    ],
  });
  const get: SubgraphGiven = {
    tensors: { h: resource, y: f },
    operators: [once(2), handle("h"), read("h", "y")],
    inputs: [],
    outputs: ["y"],
  };

  test("have the same states by name, with the same first values", () => {
    const add = { ...accumulate, operators: [once(2), ...accumulate.operators] };
    const model = withSignatures(modelOf(add, get, initialise([5, 6])));
    const initial = new Uint8Array(Float32Array.of(5, 6).buffer);
    expect(importTflite(model, { signature: "add" }).states).toEqual([
      { name: "v", input: 1, output: 1, initial, initialShape: [2] },
    ]);
    // What another signature changes is not a constant.
    expect(importTflite(model, { signature: "get" }).states).toEqual([
      { name: "v", input: 0, initial, initialShape: [2] },
    ]);
  });
});

test("a model with state that does not fit together is a TfliteError, and its operators are reported", () => {
  const main: SubgraphGiven = {
    tensors: { x: f, h: resource },
    operators: [assign("h", "x")],
    inputs: ["x"],
    outputs: ["x"],
  };
  expect(() => importTflite(modelOf(main))).toThrow(TfliteError);
});
