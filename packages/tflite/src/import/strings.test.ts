import { decodeStrings, encodeStrings, tfliteExtension } from "@nnhal/extension-tflite";
import { modelIssues } from "@nnhal/validation";
import { describe, expect, test } from "vitest";
import {
  type Elements,
  executeBytes,
  expectValid,
  modelOf,
  type OperatorGiven,
  oneOperator,
  problemOf,
  type SubgraphGiven,
  type TensorGiven,
} from "../_model.test-helper.ts";
import type { TfliteModel } from "../model.ts";
import { importTflite } from "./import.ts";

const text = (shape: readonly number[]): TensorGiven => ({ type: "STRING", shape });
const integers = (data: readonly number[], shape = [data.length]): TensorGiven => ({ type: "INT32", shape, data });

const strings = (list: readonly string[], shape?: readonly number[]): Elements => encodeStrings(list, shape);
const longs = (list: readonly number[]): Elements => ({
  bytes: new Uint8Array(BigInt64Array.from(list, BigInt).buffer),
  dimensions: [list.length],
});
const floats = (list: readonly number[]): Elements => ({
  bytes: new Uint8Array(Float32Array.from(list).buffer),
  dimensions: [list.length],
});

/** The outputs of a model: strings, or numbers, in their shape. */
async function run(model: TfliteModel, ...given: readonly Elements[]) {
  const imported = importTflite(model);
  expect(modelIssues(imported.model, { extensions: [tfliteExtension] })).toEqual([]);
  const results = await executeBytes(imported, given);
  return results.map(({ bytes, dimensions }, place) => {
    const { buffer } = bytes;
    switch (imported.outputs[place]?.tensorType) {
      case "STRING":
        return { shape: dimensions.slice(0, -1), strings: decodeStrings({ bytes, dimensions }) };
      case "INT64":
        return { shape: dimensions, numbers: Array.from(new BigInt64Array(buffer), Number) };
      case "INT32":
        return { shape: dimensions, numbers: [...new Int32Array(buffer)] };
      default:
        return { shape: dimensions, numbers: [...bytes] };
    }
  });
}

const words = ["a", "bcd", "", "e\u00e9"];

describe("operators that move strings", () => {
  test.each<[string, Record<string, TensorGiven>, TensorGiven, object, readonly string[], readonly number[]]>([
    ["GATHER", { i: integers([2, 0]) }, text([2, 2]), { axis: 0 }, ["", "e\u00e9", "a", "bcd"], [2, 2]],
    ["RESHAPE", { s: integers([4, 1]) }, text([4, 1]), {}, words, [4, 1]],
    ["EXPAND_DIMS", { s: integers([-1], []) }, text([2, 2, 1]), {}, words, [2, 2, 1]],
    ["SLICE", { b: integers([0, 1]), s: integers([2, 1]) }, text([2, 1]), {}, ["bcd", "e\u00e9"], [2, 1]],
    ["TILE", { m: integers([1, 2]) }, text([2, 4]), {}, ["a", "bcd", "a", "bcd", "", "e\u00e9", "", "e\u00e9"], [2, 4]],
    ["GATHER_ND", { i: integers([1, 1, 0, 1], [2, 2]) }, text([2]), {}, ["e\u00e9", "bcd"], [2]],
    [
      "STRIDED_SLICE",
      { b: integers([1, 0]), e: integers([2, 2]), s: integers([1, 1]) },
      text([2]),
      { shrinkAxisMask: 1 },
      ["", "e\u00e9"],
      [2],
    ],
  ])("%s", async (name, others, result, options, expected, shape) => {
    const tensors = name === "GATHER" ? { i: integers([1, 0]) } : others;
    const model = oneOperator(name, { x: text([2, 2]), ...tensors }, { y: result }, { ...options });
    expect(await run(model, strings(words, [2, 2]))).toEqual([{ shape, strings: expected }]);
  });

  test("SQUEEZE", async () => {
    const model = oneOperator("SQUEEZE", { x: text([1, 4]) }, { y: text([4]) }, { squeezeDims: [0] });
    expect(await run(model, strings(words, [1, 4]))).toEqual([{ shape: [4], strings: words }]);
  });

  test("FILL", async () => {
    const model = oneOperator("FILL", { d: integers([2, 1]), v: text([]) }, { y: text([2, 1]) });
    expect(await run(model, strings(["xyz"], [1]))).toEqual([{ shape: [2, 1], strings: ["xyz", "xyz"] }]);
  });

  test("SHAPE and RANK", async () => {
    const shape = oneOperator("SHAPE", { x: text([2, 2]) }, { y: { type: "INT32", shape: [2] } }, { outType: "INT32" });
    expect(await run(shape, strings(words, [2, 2]))).toEqual([{ shape: [2], numbers: [2, 2] }]);
  });
});

describe("EQUAL and NOT_EQUAL", () => {
  const flags = { y: { type: "BOOL", shape: [2] } } as const;
  const other = { type: "STRING", shape: [2], strings: ["a", "bc"] } as const;

  test("compare strings with constants", async () => {
    const given = { x: text([2]), c: other };
    expect(await run(oneOperator("EQUAL", given, flags), strings(["a", "b"]))).toEqual([
      { shape: [2], numbers: [1, 0] },
    ]);
    expect(await run(oneOperator("NOT_EQUAL", given, flags), strings(["a", "b"]))).toEqual([
      { shape: [2], numbers: [0, 1] },
    ]);
  });
});

test("an output that is an input or a constant is a copy", async () => {
  const main: SubgraphGiven = {
    tensors: { x: text([2]), c: { type: "STRING", shape: [1], strings: ["constant"] } },
    operators: [],
    inputs: ["x"],
    outputs: ["x", "c"],
  };
  expect(await run(modelOf(main), strings(["a", "bc"]))).toEqual([
    { shape: [2], strings: ["a", "bc"] },
    { shape: [1], strings: ["constant"] },
  ]);
});

test("SKIP_GRAM of a sentence", async () => {
  const model = oneOperator(
    "SKIP_GRAM",
    { x: text([1]) },
    { y: text([3]) },
    { ngramSize: 2, maxSkipSize: 0, includeAllNgrams: false },
  );
  expect(await run(model, strings(["the quick brown fox"]))).toEqual([
    { shape: [3], strings: ["the quick", "quick brown", "brown fox"] },
  ]);
});

test("HASHTABLE_LOOKUP of strings", async () => {
  const model = oneOperator(
    "HASHTABLE_LOOKUP",
    {
      i: { type: "INT32", shape: [2] },
      k: integers([3, 7]),
      v: { type: "STRING", shape: [2], strings: ["three", "seven"] },
    },
    { y: text([2]), hits: { type: "UINT8", shape: [2] } },
  );
  const given: Elements = { bytes: new Uint8Array(Int32Array.of(7, 5).buffer), dimensions: [2] };
  expect(await run(model, given)).toEqual([
    { shape: [2], strings: ["seven", ""] },
    { shape: [2], numbers: [1, 0] },
  ]);
});

describe("hash tables", () => {
  const resource = { type: "RESOURCE", shape: [] } as const;
  const table = (to: string): OperatorGiven => ({
    name: "HASHTABLE",
    inputs: [],
    outputs: [to],
    options: { tableId: 7, keyDtype: "STRING", valueDtype: "INT64" },
  });
  const keys = { type: "STRING", shape: [2], strings: ["one", "two"] } as const;
  const values = { type: "INT64", shape: [2], data: [1, 2] } as const;
  const found = { type: "INT64", shape: [2] } as const;
  const find: OperatorGiven = { name: "HASHTABLE_FIND", inputs: ["h", "x", "d"], outputs: ["y"] };
  const fill: OperatorGiven = { name: "HASHTABLE_IMPORT", inputs: ["h", "k", "v"], outputs: [] };
  const size: OperatorGiven = { name: "HASHTABLE_SIZE", inputs: ["h"], outputs: ["n"] };
  const lookup: SubgraphGiven = {
    tensors: {
      x: text([2]),
      h: resource,
      d: { type: "INT64", shape: [1], data: [-1] },
      y: found,
      n: { type: "INT64", shape: [1] },
    },
    operators: [
      { name: "CALL_ONCE", inputs: [], outputs: [], options: { initSubgraphIndex: 1 } },
      table("h"),
      find,
      size,
    ],
    inputs: ["x"],
    outputs: ["y", "n"],
  };
  const init: SubgraphGiven = {
    tensors: { h: resource, k: keys, v: values },
    operators: [table("h"), fill],
    inputs: [],
    outputs: [],
  };

  test("that CALL_ONCE fills are constants", async () => {
    expect(importTflite(modelOf(lookup, init)).states).toEqual([]);
    expect(await run(modelOf(lookup, init), strings(["two", "three"]))).toEqual([
      { shape: [2], numbers: [2, -1] },
      { shape: [1], numbers: [2] },
    ]);
  });

  test("in a branch of an IF", async () => {
    const main: SubgraphGiven = {
      tensors: { c: { type: "BOOL", shape: [] }, x: text([2]), y: found },
      operators: [
        { name: "CALL_ONCE", inputs: [], outputs: [], options: { initSubgraphIndex: 1 } },
        { name: "IF", inputs: ["c", "x"], outputs: ["y"], options: { thenSubgraphIndex: 2, elseSubgraphIndex: 3 } },
      ],
      inputs: ["c", "x"],
      outputs: ["y"],
    };
    const then: SubgraphGiven = { ...lookup, operators: [table("h"), find], outputs: ["y"] };
    const otherwise: SubgraphGiven = {
      tensors: { x: text([2]), c: { type: "INT64", shape: [2], data: [8, 9] } },
      operators: [],
      inputs: ["x"],
      outputs: ["c"],
    };
    const flag = (value: number): Elements => ({ bytes: Uint8Array.of(value), dimensions: [1] });
    const model = modelOf(main, init, then, otherwise);
    expect(await run(model, flag(1), strings(["one", ""]))).toEqual([{ shape: [2], numbers: [1, -1] }]);
    expect(await run(model, flag(0), strings(["one", ""]))).toEqual([{ shape: [2], numbers: [8, 9] }]);
  });

  test("filled by what is computed are state: the first contents stay", async () => {
    const main: SubgraphGiven = {
      tensors: {
        k: { type: "INT64", shape: [2] },
        h: resource,
        v: { type: "STRING", shape: [2] },
        x: { type: "INT64", shape: [2] },
        d: { type: "STRING", shape: [1], strings: ["none"] },
        y: text([2]),
      },
      operators: [table("h"), fill, find],
      inputs: ["k", "v", "x"],
      outputs: ["y"],
    };
    const imported = importTflite(modelOf(main));
    expectValid(imported);
    expect(imported.states).toEqual([
      { name: "table 7 is filled", input: 3, output: 1 },
      { name: "keys of table 7", input: 4, output: 2 },
      { name: "values of table 7", input: 5, output: 3 },
    ]);
    const empty = [{ bytes: Uint8Array.of(0), dimensions: [1] }, longs([0, 0]), strings(["", ""])];
    const first = await executeBytes(imported, [longs([1, 2]), strings(["I", "II"]), longs([2, 3]), ...empty]);
    const [answer, ...state] = first;
    expect(answer && decodeStrings(answer)).toEqual(["II", "none"]);
    const [again] = await executeBytes(imported, [longs([5, 6]), strings(["V", "VI"]), longs([5, 1]), ...state]);
    expect(again && decodeStrings(again)).toEqual(["none", "I"]);
  });

  test("that nothing fills have no keys, and cannot be searched", async () => {
    const main = { ...lookup, operators: [table("h"), find, size] };
    expect(problemOf(modelOf(main), { extensions: true })).toContain(
      "subgraphs[0].operators[1] (HASHTABLE_FIND version 1): no operator fills table 7, so it has no keys",
    );
    const measured = importTflite(modelOf({ ...lookup, operators: [table("h"), size], outputs: ["n"] }));
    expect(await executeBytes(measured, [strings(["a", "b"])])).toEqual([
      { bytes: new Uint8Array(8), dimensions: [1] },
    ]);
  });
});

describe("state of strings", () => {
  const resource = { type: "RESOURCE", shape: [] } as const;

  test("grows with the strings", async () => {
    const main: SubgraphGiven = {
      tensors: { x: text([1]), h: resource, old: text([1]) },
      operators: [
        { name: "VAR_HANDLE", inputs: [], outputs: ["h"], options: { container: "", sharedName: "last" } },
        { name: "READ_VARIABLE", inputs: ["h"], outputs: ["old"] },
        { name: "ASSIGN_VARIABLE", inputs: ["h", "x"], outputs: [] },
      ],
      inputs: ["x"],
      outputs: ["old"],
    };
    const imported = importTflite(modelOf(main));
    const [, kept] = await executeBytes(imported, [strings(["hello"]), strings([""])]);
    const [old] = await executeBytes(imported, [strings(["x"]), kept ?? strings([])]);
    expect(old && decodeStrings(old)).toEqual(["hello"]);
  });
});

describe("constants of STRING", () => {
  const constant = (data: Uint8Array): TfliteModel => {
    const model = oneOperator(
      "EQUAL",
      { x: text([2]), c: { type: "STRING", shape: [2], strings: ["a", "b"] } },
      { y: { type: "BOOL", shape: [2] } },
    );
    const [subgraph] = model.subgraphs;
    if (subgraph === undefined) throw new TypeError("the model has a subgraph");
    const tensors = subgraph.tensors.map((tensor) => (tensor.name === "c" ? { ...tensor, data } : tensor));
    return { ...model, subgraphs: [{ ...subgraph, tensors }] };
  };
  const integersOf = (...list: readonly number[]) => new Uint8Array(Int32Array.from(list).buffer);

  test.each([
    [new Uint8Array(2), "STRING data have 2 bytes, fewer than the 4 of their number"],
    [integersOf(3, 16, 16, 16), "there are 3 strings in its data, and 2 in its shape"],
    [integersOf(2, 16, 16), "the places of 2 strings take 16 bytes, its value has 12"],
    [integersOf(2, 16, 20, 16, 0), "string 1 is at 20 to 16, outside the bytes 16 to 20"],
    [integersOf(2, 12, 16, 16), "string 0 is at 12 to 16, outside the bytes 16 to 16"],
    [integersOf(2, 16, 16, 17), "string 1 is at 16 to 17, outside the bytes 16 to 16"],
  ])("of another form are refused (%#)", (data, message) => {
    expect(problemOf(constant(data), { extensions: true })).toContain(message);
  });

  test("are refused without extensions", () => {
    expect(problemOf(constant(integersOf(2, 16, 16, 16)))).toContain("the HAL has no tensors of type STRING");
  });

  test("that are long are refused if rows of one size take too much", () => {
    const count = 3000;
    const names = Array.from({ length: count }, (_, i) => (i === 0 ? "x".repeat(30_000) : ""));
    const model = oneOperator(
      "EQUAL",
      { x: text([count]), c: { type: "STRING", shape: [count], strings: names } },
      { y: { type: "BOOL", shape: [count] } },
    );
    expect(problemOf(model, { extensions: true })).toContain(
      "3000 strings of up to 30000 bytes take more than 67108864 bytes in rows of one size",
    );
  });
});

test("float models are imported as before", async () => {
  const model = oneOperator("ABS", { x: { shape: [2] } }, { y: { shape: [2] } });
  const [result] = await executeBytes(importTflite(model), [floats([-1, 2])]);
  expect(result).toEqual(floats([1, 2]));
});
