import { describe, expect, test } from "vitest";
import {
  execute,
  expectValid,
  importLines,
  modelOf,
  oneOperator,
  type SubgraphGiven,
  type TensorGiven,
} from "../../_model.test-helper.ts";
import { readTflite } from "../../read.ts";
import { writeTflite } from "../../write.ts";
import { importTflite } from "../import.ts";

const f = { type: "FLOAT32", shape: [2] } as const;

/** A model of one operator and a body for it. */
function withBody(
  name: string,
  tensors: SubgraphGiven["tensors"],
  options: Readonly<Record<string, number | readonly number[]>>,
  body: SubgraphGiven,
) {
  const names = Object.keys(tensors);
  const inputs = names.slice(0, -1);
  const outputs = names.slice(-1);
  return modelOf({ tensors, operators: [{ name, inputs, outputs, options }], inputs, outputs }, body);
}

const body = (
  name: string,
  type: TensorGiven["type"] = "FLOAT32",
  more: Partial<SubgraphGiven> = {},
): SubgraphGiven => ({
  tensors: { a: { type, shape: [] }, b: { type, shape: [] }, c: { type, shape: [] } },
  operators: [{ name, inputs: ["a", "b"], outputs: ["c"] }],
  inputs: ["a", "b"],
  outputs: ["c"],
  ...more,
});

describe("operators of two tensors", () => {
  test.each([
    ["STABLEHLO_ADD", "FLOAT32", "ADD(in0, in1, 0) -> out0", [4, 6]],
    ["STABLEHLO_MULTIPLY", "INT32", "MUL(in0, in1, 0) -> out0", [3, 8]],
    ["STABLEHLO_MAXIMUM", "FLOAT32", "MAXIMUM(in0, in1) -> out0", [3, 4]],
    ["STABLEHLO_MINIMUM", "INT32", "MINIMUM(in0, in1) -> out0", [1, 2]],
    ["STABLEHLO_ADD", "INT64", "nnhal.tflite STABLEHLO_ADD(in0, in1) -> out0", [4, 6]],
    ["STABLEHLO_ADD", "INT8", "nnhal.tflite STABLEHLO_ADD(in0, in1) -> out0", [4, 6]],
    ["STABLEHLO_SHIFT_LEFT", "INT32", "nnhal.tflite STABLEHLO_SHIFT_LEFT(in0, in1) -> out0", [8, 32]],
    ["STABLEHLO_AND", "INT32", "nnhal.tflite STABLEHLO_AND(in0, in1) -> out0", [1, 0]],
  ] as const)("%s of %s", async (name, type, line, result) => {
    const tensor = { type, shape: [2] };
    const model = readTflite(writeTflite(oneOperator(name, { lhs: tensor, rhs: tensor }, { y: tensor })));
    expect(importLines(model)).toEqual([line]);
    const imported = importTflite(model);
    expectValid(imported);
    expect(
      await execute(imported, [
        [1, 2],
        [3, 4],
      ]),
    ).toEqual([result]);
  });

  test.each([
    ["STABLEHLO_ADD", "LOGICAL_OR"],
    ["STABLEHLO_MAXIMUM", "LOGICAL_OR"],
    ["STABLEHLO_MULTIPLY", "LOGICAL_AND"],
    ["STABLEHLO_MINIMUM", "LOGICAL_AND"],
  ])("%s of BOOL is %s", (operator, operation) => {
    const b = { type: "BOOL", shape: [2] } as const;
    expect(importLines(oneOperator(operator, { lhs: b, rhs: b }, { y: b }))).toEqual([
      `${operation}(in0, in1) -> out0`,
    ]);
  });

  test("STABLEHLO_AND of BOOL is the HAL's", () => {
    const b = { type: "BOOL", shape: [2] } as const;
    expect(importLines(oneOperator("STABLEHLO_AND", { lhs: b, rhs: b }, { y: b }))).toEqual([
      "LOGICAL_AND(in0, in1) -> out0",
    ]);
  });

  test("shapes that differ are refused", () => {
    const model = oneOperator("STABLEHLO_ADD", { lhs: f, rhs: { ...f, shape: [1] } }, { y: f });
    expect(() => importTflite(model)).toThrow("expected equal shapes, got [2] and [1]");
  });

  test("a result of another quantisation has the computed integers", async () => {
    const [x, y] = [0.5, 0.25].map((scale) => ({ type: "INT8", shape: [2], scale, zeroPoint: 1 }) as const);
    const model = oneOperator("STABLEHLO_ADD", { lhs: x ?? f, rhs: x ?? f }, { y: y ?? f });
    expect(
      await execute(importTflite(model), [
        [1, 100],
        [2, 100],
      ]),
    ).toEqual([[3, -56]]);
  });
});

describe("STABLEHLO_GATHER and STABLEHLO_PAD", () => {
  const lists = { offsetDims: [1], startIndexMap: [0], indexVectorDim: 1, sliceSizes: [2] };
  const gather = (options: Readonly<Record<string, number | readonly number[]>>) =>
    oneOperator(
      "STABLEHLO_GATHER",
      { x: { ...f, shape: [3] }, i: { type: "INT64", shape: [2], data: [0, 5] } },
      { y: { ...f, shape: [2, 2] } },
      options,
    );

  test("have their options as operands; a list without elements is omitted", async () => {
    const imported = importTflite(readTflite(writeTflite(gather(lists))));
    expectValid(imported);
    expect(await execute(imported, [[1, 2, 3]])).toEqual([[1, 2, 2, 3]]);
    expect(importLines(gather({ ...lists, collapsedSliceDims: [] }))).toEqual(importLines(gather(lists)));
  });

  test("the stored shape may be open", () => {
    const model = gather(lists);
    const [subgraph] = model.subgraphs;
    const tensors = subgraph?.tensors.map((tensor, i) =>
      i === 2 ? { ...tensor, shape: [1, 1], shapeSignature: [-1, -1] } : tensor,
    );
    const open = { ...model, subgraphs: [{ ...(subgraph ?? { name: "" }), tensors }] } as typeof model;
    expect(importTflite(open).outputs[0]?.shape).toEqual([2, 2]);
  });

  test("an option that is missing, or needs more than 32 bits, is refused", () => {
    const { sliceSizes, ...others } = lists;
    expect(() => importTflite(gather(others))).toThrow("option sliceSizes is missing");
    expect(() => importTflite(gather({ ...lists, sliceSizes: [] }))).toThrow(
      "option sliceSizes has to have elements, it has none",
    );
    expect(() => importTflite(gather({ ...lists, sliceSizes: [2 ** 32 + 2] }))).toThrow(
      "4294967298 is not a 32-bit integer",
    );
    expect(() => importTflite(gather({ ...lists, indexVectorDim: 2 ** 32 + 1 }))).toThrow(
      "option indexVectorDim is 4294967297, not a 32-bit integer",
    );
    expect(sliceSizes).toEqual([2]);
  });

  test("PAD", async () => {
    const options = { edgePaddingLow: [1], edgePaddingHigh: [-1], interiorPadding: [1] };
    const inputs = { x: f, v: { type: "FLOAT32", shape: [], data: [9] } } as const;
    const model = oneOperator("STABLEHLO_PAD", inputs, { y: { ...f, shape: [3] } }, options);
    expect(await execute(importTflite(readTflite(writeTflite(model))), [[1, 2]])).toEqual([[9, 1, 9]]);
  });
});

describe("bodies", () => {
  const single = { insertedWindowDims: [0], scatterDimsToOperandDims: [0], indexVectorDim: 1 };
  const scatter = (computation: SubgraphGiven, updateComputationSubgraphIndex = 1) =>
    withBody(
      "STABLEHLO_SCATTER",
      { x: f, i: { type: "INT32", shape: [2] }, u: f, y: f },
      { ...single, updateComputationSubgraphIndex },
      computation,
    );
  const keep = body("", "FLOAT32", { operators: [], outputs: ["b"] });

  test.each([
    ["STABLEHLO_ADD", [8, 2]],
    ["STABLEHLO_MULTIPLY", [12, 2]],
    ["STABLEHLO_MINIMUM", [1, 2]],
    ["STABLEHLO_MAXIMUM", [4, 2]],
    ["ADD", [8, 2]],
  ])("%s of a SCATTER", async (name, result) => {
    const imported = importTflite(readTflite(writeTflite(scatter(body(name)))));
    expectValid(imported);
    expect(
      await execute(imported, [
        [1, 2],
        [0, 0],
        [3, 4],
      ]),
    ).toEqual([result]);
  });

  test("one that returns the update", async () => {
    expect(
      await execute(importTflite(scatter(keep)), [
        [1, 2],
        [0, 0],
        [3, 4],
      ]),
    ).toEqual([[4, 2]]);
  });

  const needed = "expected one ADD, MUL, MINIMUM or MAXIMUM of its two inputs, got";
  test.each([
    [body("STABLEHLO_SUBTRACT"), `subgraph 1: ${needed} 1 operators, the first one STABLEHLO_SUBTRACT`],
    [body("STABLEHLO_AND"), `subgraph 1: ${needed} 1 operators, the first one STABLEHLO_AND`],
    [{ ...keep, outputs: ["a"] }, `subgraph 1: ${needed} 0 operators`],
    [{ ...keep, inputs: ["b"] }, `subgraph 1: ${needed} 0 operators`],
    [
      body("ADD", "FLOAT32", { operators: [{ name: "ADD", inputs: ["a", "a"], outputs: ["c"] }] }),
      `subgraph 1: ${needed} 1 operators, the first one ADD`,
    ],
    [
      body("ADD", "FLOAT32", {
        operators: [{ name: "ADD", inputs: ["a", "b"], outputs: ["c"], options: { fusedActivationFunction: "RELU" } }],
      }),
      `subgraph 1: ${needed} 1 operators, the first one ADD`,
    ],
    [body("ADD", "FLOAT32", { outputs: ["a"] }), `subgraph 1: ${needed} 1 operators, the first one ADD`],
  ])("others are refused (%#)", (computation, message) => {
    expect(() => importTflite(scatter(computation))).toThrow(message);
  });

  test("a subgraph that is missing is refused", () => {
    for (const index of [2, -1]) {
      expect(() => importTflite(scatter(keep, index))).toThrow(
        `there is no subgraph ${index}, which option updateComputationSubgraphIndex names`,
      );
    }
  });

  const windows = {
    ...{ windowDimensions: [2], windowStrides: [1], baseDilations: [1], windowDilations: [1], padding: [0, 0] },
    bodySubgraphIndex: 1,
  };

  test.each([
    ["ADD", "FLOAT32", 0, [3, 5]],
    ["STABLEHLO_ADD", "FLOAT32", 0, [3, 5]],
    ["MUL", "INT32", 1, [2, 6]],
    ["STABLEHLO_MULTIPLY", "INT32", 1, [2, 6]],
    ["MAXIMUM", "INT8", 0, [2, 3]],
    ["STABLEHLO_MAXIMUM", "INT64", 0, [2, 3]],
    ["MINIMUM", "FLOAT32", 9, [1, 2]],
    ["STABLEHLO_MINIMUM", "FLOAT32", 9, [1, 2]],
    ["LOGICAL_AND", "BOOL", 1, [1, 1]],
    ["STABLEHLO_AND", "INT32", 3, [1, 1]],
    ["LOGICAL_OR", "BOOL", 0, [1, 1]],
    ["STABLEHLO_OR", "INT32", 0, [1, 1]],
  ] as const)("%s of a REDUCE_WINDOW of %s", async (name, type, init, result) => {
    const [x, y] = [3, 2].map((length) => ({ type, shape: [length] }));
    const tensors = { x: x ?? f, v: { type, shape: [] }, y: y ?? f };
    const model = withBody("STABLEHLO_REDUCE_WINDOW", tensors, windows, body(name, type));
    const imported = importTflite(readTflite(writeTflite(model)));
    expectValid(imported);
    const given = type === "BOOL" ? [1, 1, 1] : [1, 2, 3];
    expect(await execute(imported, [given, [init]])).toEqual([result]);
  });

  test("a REDUCE_WINDOW needs one of these", () => {
    const model = withBody("STABLEHLO_REDUCE_WINDOW", { x: f, v: { ...f, shape: [] }, y: f }, windows, keep);
    expect(() => importTflite(model)).toThrow(
      "subgraph 1: expected one ADD, MUL, MINIMUM, MAXIMUM, AND or OR of its two inputs, got 0 operators",
    );
  });
});

describe("STABLEHLO_RNG_BIT_GENERATOR", () => {
  const state = { type: "UINT64", shape: [2] } as const;
  const generator = (algorithm: string, bits: TensorGiven) =>
    oneOperator("STABLEHLO_RNG_BIT_GENERATOR", { s: state }, { t: state, bits }, { algorithm });

  test("has the shape that is stored", async () => {
    const imported = importTflite(readTflite(writeTflite(generator("THREEFRY", { type: "INT32", shape: [2, 3] }))));
    expectValid(imported);
    expect(imported.outputs.map(({ shape }) => shape)).toEqual([[2], [2, 3]]);
    const [, bits] = await execute(imported, [[1, 2]]);
    expect(bits).toEqual([43444564, -2144348869, -315321645, -549236733, 1672743891, -54463903]);
  });

  test("an algorithm that is not known, and bits as floats, are refused", () => {
    expect(() => importTflite(oneOperator("STABLEHLO_RNG_BIT_GENERATOR", { s: state }, { t: state, b: f }))).toThrow();
    const unknown = oneOperator(
      "STABLEHLO_RNG_BIT_GENERATOR",
      { s: state },
      { t: state, b: { type: "UINT32", shape: [2] } },
      { algorithm: 3 },
    );
    expect(() => importTflite(unknown)).toThrow("the algorithm: expected 0 to 2, got 3");
  });
});
