/**
 * Constants that are packed or leave out zeros: their elements by hand, and each rule of a sparsity broken alone.
 */
import { describe, expect, test } from "vitest";
import { add, execute, firstSubgraph, importLines, modelOf, ofOperators, oneOperator } from "../_model.test-helper.ts";
import type { TfliteModel, TfliteSparsity, TfliteTensor } from "../model.ts";
import { readTflite } from "../read.ts";
import { writeTflite } from "../write.ts";
import { importTflite } from "./import.ts";

/** The model with a constant stored in another way. */
function store(model: TfliteModel, name: string, change: Partial<TfliteTensor>): TfliteModel {
  const [main] = model.subgraphs;
  if (main === undefined) throw new TypeError("the model has no subgraph");
  const tensors = main.tensors.map((tensor) => (tensor.name === name ? { ...tensor, ...change } : tensor));
  return { ...model, subgraphs: [{ ...main, tensors }] };
}

/** x + w, with w stored in another way. */
function sum(shape: readonly number[], change: Partial<TfliteTensor>): TfliteModel {
  const type = change.type === "FLOAT32" ? { type: "FLOAT32" as const } : ({ type: "INT8", scale: 1 } as const);
  const model = oneOperator(
    "ADD",
    { x: { ...type, shape }, w: { ...type, shape, data: [0] } },
    { y: { ...type, shape } },
  );
  return store(model, "w", change);
}

/** The elements of w, of the model as it is and after it was written and read. */
async function elements(shape: readonly number[], change: Partial<TfliteTensor>): Promise<number[]> {
  const model = sum(shape, change);
  const zeros = new Array<number>(shape.reduce((size, extent) => size * extent, 1)).fill(0);
  const [made] = await execute(importTflite(model), [zeros]);
  const [read] = await execute(importTflite(writeTflite(model)), [zeros]);
  expect(read).toEqual(made);
  return made ?? [];
}

const floats = (...values: readonly number[]) => ({
  type: "FLOAT32" as const,
  data: new Uint8Array(Float32Array.from(values).buffer),
});

describe("elements of less than 8 bits", () => {
  test.each([
    ["INT4", [0x21, 0xf8, 0x07], [1, 2, -8, -1, 7]],
    ["INT2", [0b11_10_01_00, 0b01], [0, 1, -2, -1, 1]],
  ] as const)("%s: the first one is in the lowest bits", async (type, data, wanted) => {
    expect(await elements([5], { type, data: Uint8Array.from(data) })).toEqual(wanted);
  });

  test("constants in memories of their own are not taken for each other", async () => {
    const q = { type: "INT8", shape: [2], scale: 1 } as const;
    const w = { ...q, data: [0] };
    const model = ofOperators(
      { x: q, w, v: w, t: q, y: q },
      [add(["x", "w"], "t"), add(["t", "v"], "y")],
      ["x"],
      ["y"],
    );
    const pack = (byte: number) => ({ type: "INT4" as const, data: Uint8Array.of(byte) });
    const both = store(store(model, "w", pack(0x21)), "v", pack(0x30));
    expect(await execute(importTflite(both), [[0, 0]])).toEqual([[1, 5]]);
  });

  test("UINT4 has no sign", async () => {
    const q = { type: "UINT8", shape: [3], scale: 1 } as const;
    const model = store(oneOperator("ADD", { x: q, w: { ...q, data: [0] } }, { y: q }), "w", {
      type: "UINT4",
      data: Uint8Array.of(0xf1, 0x08),
    });
    expect(await execute(importTflite(model), [[0, 0, 0]])).toEqual([[1, 15, 8]]);
  });

  test("equal constants are expanded once, in a pool of their own", () => {
    const data = Uint8Array.of(0x21, 0x43);
    const model = sum([4], { type: "INT4", data });
    const twice = store(model, "x", { type: "INT4", data: data.subarray(0) });
    const inputs = { ...twice, subgraphs: [{ ...firstSubgraph(twice), inputs: [] }] };
    expect(importTflite(inputs).model.pools.map(({ size }) => size)).toEqual([4]);
  });

  test("are weights with a scale for each filter", () => {
    const x = { type: "INT8", shape: [1, 1, 1, 2], scale: 0.5 } as const;
    const w = { type: "INT8", shape: [2, 1, 1, 2], data: [0], scale: [0.5, 1] } as const;
    const model = oneOperator("CONV_2D", { x, w }, { y: x }, { padding: "VALID", strideW: 1, strideH: 1 });
    expect(importLines(store(model, "w", { type: "INT4", data: Uint8Array.of(0x21, 0x43) }))).toEqual([
      "CONV_2D(in0, QUANT8_SYMM_PER_CHANNEL[2,1,1,2]*{0.5,1}d0(1,2,3,4), INT32[2](0,0), 2, 1, 1, 0) -> out0",
    ]);
  });

  test.each([1, 3])("%d bytes are refused, since a value has 2", (length) => {
    expect(() => importTflite(sum([4], { type: "INT4", data: new Uint8Array(length) }))).toThrow(
      `4 stored elements of INT4 take 2 bytes, its value has ${length}`,
    );
  });

  test("results are those of operators that quantise or move elements", async () => {
    const q = { type: "INT4", shape: [4], scale: 0.5 } as const;
    const f = { shape: [4] };
    const quantised = modelOf({
      tensors: { x: f, q, y: f },
      operators: [
        { name: "QUANTIZE", inputs: ["x"], outputs: ["q"] },
        { name: "DEQUANTIZE", inputs: ["q"], outputs: ["y"] },
      ],
      inputs: ["x"],
      outputs: ["y"],
    });
    expect(await execute(importTflite(quantised), [[-4.5, -4, 3.5, 4]])).toEqual([[-4, -4, 3.5, 3.5]]);
    expect(() => importTflite(oneOperator("ADD", { x: q, w: q }, { y: q }))).toThrow("elements of less than 8 bits");
  });
});

describe("constants that leave out zeros", () => {
  const rows: TfliteSparsity = {
    traversalOrder: [0, 1],
    blockMap: [],
    dimensions: [{ size: 2 }, { segments: [0, 2, 3], indexes: [0, 2, 1] }],
  };
  const values = floats(1, 2, 3);

  test("by rows", async () => {
    expect(await elements([2, 3], { ...values, sparsity: rows })).toEqual([1, 0, 2, 0, 3, 0]);
  });

  test("by columns", async () => {
    expect(await elements([3, 2], { ...values, sparsity: { ...rows, traversalOrder: [1, 0] } })).toEqual([
      ...[1, 0],
      ...[0, 3],
      ...[2, 0],
    ]);
  });

  test("in blocks, whose elements are in the order of storage", async () => {
    const blocks: TfliteSparsity = {
      traversalOrder: [0, 1, 3, 2],
      blockMap: [0, 1],
      dimensions: [{ size: 1 }, { segments: [0, 1], indexes: [1] }, { size: 2 }, { size: 2 }],
    };
    expect(await elements([2, 4], { ...floats(1, 2, 3, 4), sparsity: blocks })).toEqual([0, 0, 1, 3, 0, 0, 2, 4]);
  });

  test("that are packed as well", async () => {
    expect(await elements([2, 3], { type: "INT4", data: Uint8Array.of(0x21, 0x0f), sparsity: rows })).toEqual([
      ...[1, 0, 2],
      ...[0, -1, 0],
    ]);
  });

  test("with indexes of every width in a file", () => {
    for (const index of [0xff, 0x100, 0xffff, 0x1_0000]) {
      const dimensions = [{ segments: [0, 1], indexes: [index] }];
      const sparsity = { traversalOrder: [0], blockMap: [], dimensions };
      const model = sum([index + 1], { ...floats(7), sparsity });
      expect(firstSubgraph(readTflite(writeTflite(model))).tensors[1]?.sparsity).toEqual(sparsity);
    }
  });

  test("become constants by DENSIFY", async () => {
    const model = modelOf({
      tensors: { w: { shape: [2, 3], data: [0] }, d: { shape: [2, 3] }, x: { shape: [2, 3] }, y: { shape: [2, 3] } },
      operators: [
        { name: "DENSIFY", inputs: ["w"], outputs: ["d"] },
        { name: "ADD", inputs: ["x", "d"], outputs: ["y"] },
      ],
      inputs: ["x"],
      outputs: ["y"],
    });
    const sparse = store(model, "w", { ...values, sparsity: rows });
    expect(importLines(sparse)).toEqual(["ADD(in0, FLOAT32[2,3](1,0,2,0,3,0), 0) -> out0"]);
    const computed = { ...sparse, subgraphs: [{ ...firstSubgraph(sparse), inputs: [0, 2] }] };
    expect(() => importTflite(computed)).toThrow("its input must be a constant");
    expect(() => importTflite(store(sparse, "d", { type: "FLOAT16" }))).toThrow(
      "its input is FLOAT32, and its output FLOAT16",
    );
  });

  test.each<[string, Partial<TfliteSparsity>, string]>([
    ["an order that names a dimension twice", { traversalOrder: [0, 0] }, "has the traversal order [0, 0]"],
    ["an order that is too short", { traversalOrder: [0] }, "has the traversal order [0]"],
    ["a block dimension before the others", { traversalOrder: [2, 0, 1], blockMap: [0] }, "has the traversal order"],
    ["a block of no dimension", { traversalOrder: [0, 1, 2], blockMap: [2] }, "has the block map [2]"],
    ["two blocks of a dimension", { traversalOrder: [0, 1, 2, 3], blockMap: [0, 0] }, "has the block map [0, 0]"],
    ["too few dimensions", { dimensions: [{ size: 2 }] }, "its sparsity: expected 2 dimensions, got 1"],
    [
      "blocks that do not divide a dimension",
      {
        traversalOrder: [0, 1, 2],
        blockMap: [1],
        dimensions: [{ size: 2 }, { segments: [0, 1, 1], indexes: [0] }, { size: 2 }],
      },
      "dimension 1 of 3 does not consist of the blocks",
    ],
    [
      "a sparse block",
      {
        traversalOrder: [0, 1, 2],
        blockMap: [1],
        dimensions: [{ size: 2 }, { size: 1 }, { segments: [0, 1, 1], indexes: [0] }],
      },
      "dimension 1 of 3 does not consist of the blocks",
    ],
    [
      "another extent",
      { dimensions: [{ size: 3 }, { segments: [0, 1, 2, 3], indexes: [0, 1, 2] }] },
      "stores 3 indexes of a dimension that has 2",
    ],
    [
      "too few segments",
      { dimensions: [{ size: 2 }, { segments: [0, 3], indexes: [0, 1, 2] }] },
      "do not divide 3 indexes into 2",
    ],
    [
      "segments that do not begin at 0",
      { dimensions: [{ size: 2 }, { segments: [1, 2, 3], indexes: [0, 1, 2] }] },
      "do not divide",
    ],
    [
      "segments that go backwards",
      { dimensions: [{ size: 2 }, { segments: [0, 4, 3], indexes: [0, 1, 2] }] },
      "do not divide",
    ],
    [
      "segments that leave out indexes",
      { dimensions: [{ size: 2 }, { segments: [0, 1, 2], indexes: [0, 1, 2] }] },
      "do not divide",
    ],
    [
      "an index that is too great",
      { dimensions: [{ size: 2 }, { segments: [0, 2, 3], indexes: [0, 3, 1] }] },
      "the index 3 of its sparsity is not within the 3 of level 1",
    ],
    [
      "a negative index",
      { dimensions: [{ size: 2 }, { segments: [0, 2, 3], indexes: [0, -1, 1] }] },
      "the index -1 of its sparsity",
    ],
    [
      "more elements than are stored",
      { dimensions: [{ size: 2 }, { size: 3 }] },
      "6 stored elements of FLOAT32 take 24 bytes, its value has 12",
    ],
  ])("with %s are refused", (_, change, message) => {
    expect(() => importTflite(sum([2, 3], { ...values, sparsity: { ...rows, ...change } }))).toThrow(message);
  });

  test("cannot exhaust memory", () => {
    const dimensions = [{ segments: [0, 1], indexes: [0] }];
    const sparse = (extent: number) =>
      sum([extent], { ...floats(1), sparsity: { traversalOrder: [0], blockMap: [], dimensions } });
    expect(() => importTflite(sparse(2 ** 24))).not.toThrow();
    expect(() => importTflite(sparse(2 ** 24 + 257))).toThrow(
      `to expand it takes ${2 ** 26 + 4 * 257} bytes, more than the 4 bytes of constants in the file warrant`,
    );
    expect(() => importTflite(sparse(2 ** 29))).toThrow("to expand it takes");
  });
});
