import { elementAt } from "@nnhal/operations";
import { describe, expect, test } from "vitest";
import { executeBytes, expectValid, modelOf, problemOf, type SubgraphGiven } from "../../_model.test-helper.ts";
import type { TfliteModel } from "../../model.ts";
import { createStates } from "../../states.ts";
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
    // A variable that another signature changes is not a constant.
    expect(importTflite(model, { signature: "get" }).states).toEqual([
      { name: "v", input: 0, initial, initialShape: [2] },
    ]);
  });
});
