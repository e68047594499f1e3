import { describe, expect, test } from "vitest";
import { changeModel, execute, firstOperator, importLines, oneOperator } from "../../_model.test-helper.ts";
import { importTflite } from "../import.ts";

const f = { type: "FLOAT32", shape: [2, 4] } as const;
const pair = (...data: number[]) => ({ type: "INT32", shape: [2], data }) as const;
const integer = (value: number) => ({ type: "INT32", shape: [], data: [value] }) as const;
const q8 = { type: "UINT8", scale: 0.5, zeroPoint: 3 } as const;

test("SLICE", () => {
  const y = { type: "FLOAT32", shape: [1, 3] } as const;
  expect(importLines(oneOperator("SLICE", { x: f, begin: pair(1, 1), size: pair(-1, 3) }, { y }))).toEqual([
    "SLICE(in0, INT32[2](1,1), INT32[2](-1,3)) -> out0",
  ]);
});

describe("STRIDED_SLICE", () => {
  const inputs = { x: f, begin: pair(0, 1), end: pair(1, 4), strides: pair(1, 2) };
  test("masks", () => {
    const options = { beginMask: 1, endMask: 2, shrinkAxisMask: 1 };
    expect(importLines(oneOperator("STRIDED_SLICE", inputs, { y: { type: "FLOAT32", shape: [2] } }, options))).toEqual([
      "STRIDED_SLICE(in0, INT32[2](0,1), INT32[2](1,4), INT32[2](1,2), 0, 2, 1) -> out0",
    ]);
  });

  const cube = { type: "FLOAT32", shape: [2, 3, 4] } as const;
  const given = Array.from({ length: 24 }, (_, i) => i);
  const list = (...data: number[]) => ({ type: "INT32", shape: [data.length], data }) as const;

  test("an ellipsis, a new axis and a lost one are one range for each dimension, and RESHAPE", async () => {
    const model = oneOperator(
      "STRIDED_SLICE",
      { x: cube, begin: list(1, 0, 0, 3), end: list(2, 0, 0, 0), strides: list(1, 1, 1, -2) },
      { y: { type: "FLOAT32", shape: [3, 1, 2] } },
      { ellipsisMask: 2, newAxisMask: 4, shrinkAxisMask: 1 },
    );
    expect(importLines(model)).toEqual([
      "STRIDED_SLICE(in0, INT32[3](1,0,3), INT32[3](2,3,-1), INT32[3](1,1,-2), 0, 4, 0) -> t0:FLOAT32[1,3,2]",
      "RESHAPE(t0, INT32[3](3,1,2)) -> out0",
    ]);
    expect(await execute(importTflite(model), [given])).toEqual([[15, 13, 19, 17, 23, 21]]);
  });

  test("ends may be offsets from the beginnings", async () => {
    const model = oneOperator(
      "STRIDED_SLICE",
      { x: cube, begin: list(1, 1, 0), end: list(1, 2, 4), strides: list(1, 1, 3) },
      { y: { type: "FLOAT32", shape: [1, 2, 2] } },
      { offset: true },
    );
    expect(await execute(importTflite(model), [given])).toEqual([[16, 19, 20, 23]]);
  });

  test.each([
    [{ strides: pair(1, 0) }, { ellipsisMask: 4 }, "element 1 of the slice does not fit an extent of"],
    [{ end: pair(0, 4) }, { offset: true }, "the result has no elements"],
    [
      { begin: list(0, 0, 0), end: list(1, 1, 1), strides: list(1, 1, 1) },
      { offset: true },
      "3 ranges are for 2 dimensions",
    ],
    [{ end: list(1) }, { offset: true }, "begin, end and strides have 2, 1 and 2 elements"],
    [{ end: { type: "INT32", shape: [2] } as const }, { offset: true }, "the HAL needs end (input 2) as a constant"],
  ])("%j with %j is refused", (changes, options, message) => {
    const model = oneOperator(
      "STRIDED_SLICE",
      { ...inputs, ...changes },
      { y: { type: "FLOAT32", shape: [2] } },
      options,
    );
    expect(() => importTflite(model, { extensions: false })).toThrow(message);
  });
});

describe("SPLIT", () => {
  const half = { type: "FLOAT32", shape: [2, 2] } as const;
  test("axis before tensor in .tflite, after it in the HAL", () => {
    const model = oneOperator("SPLIT", { axis: integer(-1), x: f }, { a: half, b: half }, { numSplits: 2 });
    expect(importLines(model)).toEqual(["SPLIT(in0, 1, 2) -> out0, out1"]);
  });

  test("a wrong number of parts is refused", () => {
    const model = oneOperator("SPLIT", { axis: integer(1), x: f }, { a: half, b: half }, { numSplits: 4 });
    expect(() => importTflite(model, { extensions: false })).toThrow("numSplits 4 differs from 2 outputs");
  });

  test("parts that are quantised in another way are refused", () => {
    const x = { ...q8, shape: [4] };
    const a = { ...q8, shape: [2] };
    const model = oneOperator("SPLIT", { axis: integer(0), x }, { a, b: { ...a, zeroPoint: 4 } }, { numSplits: 2 });
    expect(() => importTflite(model, { extensions: false })).toThrow(
      "output 1 has another quantisation (0.5, 4) than the input (0.5, 3)",
    );
  });
});

describe("SPLIT_V", () => {
  const part = (size: number) => ({ type: "FLOAT32", shape: [2, size] }) as const;
  const split = (sizes: readonly number[], y: readonly number[]) =>
    oneOperator(
      "SPLIT_V",
      { x: f, sizes: { type: "INT32", shape: [sizes.length], data: sizes }, axis: integer(1) },
      Object.fromEntries(y.map((size, i) => [`y${i}`, part(size)])),
      { numSplits: y.length },
    );

  test("a SLICE for each part, one of which may be open", async () => {
    const lines = [
      "SLICE(in0, INT32[2](0,0), INT32[2](-1,1)) -> out0",
      "SLICE(in0, INT32[2](0,1), INT32[2](-1,3)) -> out1",
    ];
    expect(importLines(split([1, 3], [1, 3]))).toEqual(lines);
    expect(importLines(split([1, -1], [1, 3]))).toEqual(lines);
    expect(await execute(importTflite(split([1, -1], [1, 3])), [[1, 2, 3, 4, 5, 6, 7, 8]])).toEqual([
      [1, 5],
      [2, 3, 4, 6, 7, 8],
    ]);
  });

  test.each([[[1, 2]], [[5, -1]], [[-1, -1]], [[4, 0]]])("sizes %j of 4 are refused", (sizes) => {
    expect(() => importTflite(split(sizes, [1, 3]), { extensions: false })).toThrow("do not divide an extent of 4");
  });

  test("a wrong number of sizes is refused", () => {
    expect(() => importTflite(split([4], [1, 3]), { extensions: false })).toThrow("1 sizes for 2 outputs");
  });
});

describe("CONCATENATION", () => {
  const y = { type: "FLOAT32", shape: [2, 8] } as const;
  test.each([1, -1])("axis %d", (axis) => {
    expect(importLines(oneOperator("CONCATENATION", { a: f, b: f }, { y }, { axis }))).toEqual([
      "CONCATENATION(in0, in1, 1) -> out0",
    ]);
  });

  test("the same tensor twice counts as two consumers", () => {
    const model = oneOperator("CONCATENATION", { a: f }, { y }, { axis: 1 });
    const twice = changeModel(model, () => ({ operators: [{ ...firstOperator(model), inputs: [0, 0] }] }));
    const { main } = importTflite(twice).model;
    const counts = main.inputIndexes.map((index) => main.operands[index]?.numberOfConsumers);
    expect(counts).toEqual([2]);
  });

  test("an activation is refused", () => {
    const model = oneOperator("CONCATENATION", { a: f, b: f }, { y }, { axis: 1, fusedActivationFunction: "RELU" });
    expect(() => importTflite(model, { extensions: false })).toThrow(
      "the HAL's operation has no fused activation, the operator has RELU",
    );
  });

  test("an axis out of range is refused", () => {
    expect(() =>
      importTflite(oneOperator("CONCATENATION", { a: f, b: f }, { y }, { axis: 2 }), { extensions: false }),
    ).toThrow("axis 2");
  });
});

describe("PACK", () => {
  test("adds a dimension to each part", async () => {
    const part = { type: "FLOAT32", shape: [2] } as const;
    const model = oneOperator(
      "PACK",
      { a: part, b: part },
      { y: { type: "FLOAT32", shape: [2, 2] } },
      { axis: -1, valuesCount: 2 },
    );
    expect(importLines(model)).toEqual([
      "EXPAND_DIMS(in0, 1) -> t0:FLOAT32[2,1]",
      "EXPAND_DIMS(in1, 1) -> t1:FLOAT32[2,1]",
      "CONCATENATION(t0, t1, 1) -> out0",
    ]);
    expect(
      await execute(importTflite(model), [
        [1, 2],
        [3, 4],
      ]),
    ).toEqual([[1, 3, 2, 4]]);
  });

  test("scalars have the dimension already", () => {
    const scalar = { type: "FLOAT32", shape: [] } as const;
    const model = oneOperator("PACK", { a: scalar, b: scalar }, { y: { type: "FLOAT32", shape: [2] } }, { axis: 0 });
    expect(importLines(model)).toEqual(["CONCATENATION(in0, in1, 0) -> out0"]);
  });
});

describe("UNPACK", () => {
  test("removes the dimension from each part", async () => {
    const part = { type: "FLOAT32", shape: [2] } as const;
    const model = oneOperator(
      "UNPACK",
      { x: { type: "FLOAT32", shape: [2, 2] } },
      { a: part, b: part },
      { axis: 1, num: 2 },
    );
    expect(importLines(model)).toEqual([
      "SPLIT(in0, 1, 2) -> t0:FLOAT32[2,1], t1:FLOAT32[2,1]",
      "SQUEEZE(t0, INT32[1](1)) -> out0",
      "SQUEEZE(t1, INT32[1](1)) -> out1",
    ]);
    expect(await execute(importTflite(model), [[1, 2, 3, 4]])).toEqual([
      [1, 3],
      [2, 4],
    ]);
  });

  test("of a vector returns scalars", () => {
    const scalar = { type: "FLOAT32", shape: [] } as const;
    const model = oneOperator("UNPACK", { x: { type: "FLOAT32", shape: [2] } }, { a: scalar, b: scalar }, { num: 2 });
    expect(importLines(model)).toEqual(["SPLIT(in0, 0, 2) -> out0, out1"]);
  });

  test("a wrong number is refused", () => {
    const part = { type: "FLOAT32", shape: [2] } as const;
    const model = oneOperator("UNPACK", { x: { type: "FLOAT32", shape: [1, 2] } }, { a: part }, { num: 2 });
    expect(() => importTflite(model, { extensions: false })).toThrow("num 2 differs from 1 outputs");
  });
});

test("TILE", () => {
  const y = { type: "FLOAT32", shape: [2, 8] } as const;
  expect(importLines(oneOperator("TILE", { x: f, times: pair(1, 2) }, { y }))).toEqual([
    "TILE(in0, INT32[2](1,2)) -> out0",
  ]);
});

describe("GATHER", () => {
  const indices = { type: "INT32", shape: [3] } as const;
  test("axis between the tensors in the HAL", () => {
    const y = { type: "FLOAT32", shape: [2, 3] } as const;
    expect(importLines(oneOperator("GATHER", { x: f, indices }, { y }, { axis: -1 }))).toEqual([
      "GATHER(in0, 1, in1) -> out0",
    ]);
  });

  test("with a scalar index", async () => {
    const y = { type: "FLOAT32", shape: [2] } as const;
    const model = oneOperator("GATHER", { x: f, index: integer(2) }, { y }, { axis: 1 });
    expect(importLines(model)).toEqual([
      "GATHER(in0, 1, INT32[1](2)) -> t0:FLOAT32[2,1]",
      "RESHAPE(t0, INT32[1](2)) -> out0",
    ]);
    expect(await execute(importTflite(model), [[1, 2, 3, 4, 5, 6, 7, 8]])).toEqual([[3, 7]]);
  });

  test("batch dimensions are of the extension", async () => {
    const model = oneOperator(
      "GATHER",
      { x: { type: "FLOAT32", shape: [2, 3] }, i: { type: "INT32", shape: [2, 2], data: [2, 0, 1, 1] } },
      { y: { type: "FLOAT32", shape: [2, 2] } },
      { axis: 1, batchDims: 1 },
    );
    expect(await execute(importTflite(model), [[1, 2, 3, 4, 5, 6]])).toEqual([[3, 1, 5, 5]]);
  });

  test("batch dimensions are refused without the extension", () => {
    const model = oneOperator("GATHER", { x: f, indices }, { y: f }, { batchDims: 1 });
    expect(() => importTflite(model, { extensions: false })).toThrow(
      "the HAL has no batch dimensions here, batchDims is 1",
    );
  });
});
