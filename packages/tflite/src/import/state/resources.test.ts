import { describe, expect, test } from "vitest";
import { modelOf, problemOf, type SubgraphGiven, showSubgraph } from "../../_model.test-helper.ts";
import { TfliteError } from "../../error.ts";
import { importTflite } from "../import.ts";
import {
  accumulate,
  assign,
  binary,
  f,
  handle,
  initialise,
  once,
  read,
  resource,
  runs,
} from "./_resources.test-helper.ts";

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
    const problem = "its resource (input 0) must be made by a VAR_HANDLE or HASHTABLE of the file";
    expect(problemOf(modelOf(main))).toContain(`(READ_VARIABLE version 1): ${problem}`);
    expect(problemOf(modelOf(main))).toContain(`(ASSIGN_VARIABLE version 1): ${problem}`);
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
