import { decodeStrings, encodeStrings } from "@nnhal/extension-tflite";
import { elementAt } from "@nnhal/operations";
import { describe, expect, test } from "vitest";
import {
  executeBytes,
  modelOf,
  type OperatorGiven,
  type SubgraphGiven,
  type TensorGiven,
} from "./_model.test-helper.ts";
import { TfliteError } from "./error.ts";
import { importTflite } from "./import/import.ts";
import type { ImportedModel } from "./import/imported-model.ts";
import type { TfliteModel } from "./model.ts";
import { createStates, type States, type StateValue } from "./states.ts";

const resource = { type: "RESOURCE", shape: [] } as const;
const handle: OperatorGiven = {
  name: "VAR_HANDLE",
  inputs: [],
  outputs: ["h"],
  options: { container: "", sharedName: "v" },
};
const read: OperatorGiven = { name: "READ_VARIABLE", inputs: ["h"], outputs: ["old"] };
const once = (initSubgraphIndex: number): OperatorGiven => ({
  name: "CALL_ONCE",
  inputs: [],
  outputs: [],
  options: { initSubgraphIndex },
});

/** v = x of a type, in the signature "set"; v in the signature "get"; v is first what `init` has. */
function variable(x: TensorGiven, init: TensorGiven): TfliteModel {
  const set: SubgraphGiven = {
    tensors: { x, h: resource, old: x },
    operators: [once(2), handle, read, { name: "ASSIGN_VARIABLE", inputs: ["h", "x"], outputs: [] }],
    inputs: ["x"],
    outputs: ["old"],
  };
  const get: SubgraphGiven = {
    tensors: { h: resource, old: x },
    operators: [handle, read],
    inputs: [],
    outputs: ["old"],
  };
  const first: SubgraphGiven = {
    tensors: { h: resource, c: init },
    operators: [handle, { name: "ASSIGN_VARIABLE", inputs: ["h", "c"], outputs: [] }],
    inputs: [],
    outputs: [],
  };
  return {
    ...modelOf(set, get, first),
    signatures: [
      { key: "set", subgraph: 0, inputs: [{ name: "x", tensor: 0 }], outputs: [{ name: "old", tensor: 2 }] },
      { key: "get", subgraph: 1, inputs: [], outputs: [{ name: "v", tensor: 1 }] },
    ],
  };
}

const signatures = (model: TfliteModel) =>
  [importTflite(model, { signature: "set" }), importTflite(model, { signature: "get" })] as const;

/** Runs a model on the values of its own inputs; returns its first output. */
async function run(imported: ImportedModel, states: States, ...own: readonly StateValue[]): Promise<StateValue> {
  const given = [...own];
  for (const { index, ...value } of states.inputs(imported)) given[index] = value;
  const results = await executeBytes(imported, given);
  states.update(imported, (index) => elementAt(results, index));
  return elementAt(results, 0);
}

const integers = (...list: readonly number[]): StateValue => ({
  bytes: new Uint8Array(BigInt64Array.from(list, BigInt).buffer),
  dimensions: [list.length],
});

describe("createStates", () => {
  const t = { type: "INT64", shape: [2] } as const;
  const [set, get] = signatures(variable(t, { ...t, data: [7, 8] }));

  test("carries a value from one signature to another", async () => {
    const states = createStates(set, get);
    expect(states.names).toEqual(["v"]);
    // "get" does not run CALL_ONCE itself.
    expect(await run(get, states)).toEqual(integers(7, 8));
    expect(await run(set, states, integers(1, 2))).toEqual(integers(7, 8));
    expect(await run(get, states)).toEqual(integers(1, 2));
  });

  test("reads, sets and resets", async () => {
    const states = createStates(set, get);
    states.set("v", integers(3, 4));
    expect(states.get("v")).toEqual(integers(3, 4));
    expect(await run(get, states)).toEqual(integers(3, 4));
    states.reset(["v"]);
    expect(states.get("v")).toEqual(integers(7, 8));
    states.set("v", integers(3, 4));
    states.reset();
    expect(await run(get, states)).toEqual(integers(7, 8));
  });

  test("keeps its values to itself", () => {
    const states = createStates(set);
    const value = integers(3, 4);
    states.set("v", value);
    value.bytes.fill(9);
    states.get("v").bytes.fill(9);
    expect(states.get("v")).toEqual(integers(3, 4));
    // The slice of a Buffer is the same memory.
    const buffer = { bytes: Buffer.from(integers(5, 6).bytes), dimensions: [2] };
    states.set("v", buffer);
    buffer.bytes.fill(9);
    expect(states.get("v")).toEqual(integers(5, 6));
    states.reset();
    states.get("v").bytes.fill(9);
    states.reset();
    expect(states.get("v")).toEqual(integers(7, 8));
  });

  test("keeps strings of any length", async () => {
    const text = { type: "STRING", shape: [2] } as const;
    const [write, show] = signatures(variable(text, { ...text, strings: ["first", "value"] }));
    const states = createStates(show, write);
    expect(decodeStrings(await run(show, states))).toEqual(["first", "value"]);
    await run(write, states, encodeStrings(["a", "longer than before"]));
    expect(decodeStrings(await run(show, states))).toEqual(["a", "longer than before"]);
  });

  test("begins with the real value 0", () => {
    const imported = importTflite(
      modelOf({
        tensors: {
          x: { type: "INT8", shape: [2], scale: 0.5, zeroPoint: -3 },
          h: resource,
          old: { type: "INT8", shape: [2], scale: 0.5, zeroPoint: -3 },
        },
        operators: [handle, read, { name: "ASSIGN_VARIABLE", inputs: ["h", "x"], outputs: [] }],
        inputs: ["x"],
        outputs: ["old"],
      }),
    );
    expect(createStates(imported).get("v")).toEqual({ bytes: Uint8Array.of(253, 253), dimensions: [2] });
  });

  test.each([
    [(states: States) => states.get("w"), 'states: there is no state "w"; there are "v"'],
    [(states: States) => states.reset(["w"]), 'states: there is no state "w"'],
    [(states: States) => states.set("v", integers(1)), 'states["v"]: [1] does not fit the shape [2]'],
    [
      (states: States) => states.set("v", { bytes: new Uint8Array(8), dimensions: [2] }),
      'states["v"]: [2] takes 16 bytes, there are 8',
    ],
    [(states: States) => states.inputs(importTflite(other)), 'states: there is no state "s"'],
  ])("refuses what does not fit (%#)", (work, message) => {
    expect(() => work(createStates(set))).toThrow(TfliteError);
    expect(() => work(createStates(set))).toThrow(message);
  });

  const one = { type: "FLOAT32", shape: [1, 1] } as const;
  const other = modelOf({
    tensors: {
      a: one,
      r: { ...one, data: [1] },
      b: { type: "FLOAT32", shape: [1], data: [0] },
      s: { ...one, isVariable: true },
      y: one,
    },
    operators: [{ name: "RNN", inputs: ["a", "r", "r", "b", "s"], outputs: ["y"] }],
    inputs: ["a"],
    outputs: ["y"],
  });
});
