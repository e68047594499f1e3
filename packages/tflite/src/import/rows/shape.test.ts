import { describe, expect, test } from "vitest";
import { changeModel, execute, importLines, modelOf, oneOperator } from "../../_model.test-helper.ts";
import { importTflite } from "../import.ts";

const f = { type: "FLOAT32", shape: [1, 2, 3] } as const;
const flat = { type: "FLOAT32", shape: [1, 6] } as const;
const scalar = { type: "FLOAT32", shape: [] } as const;
const one = { type: "FLOAT32", shape: [1] } as const;

describe("RESHAPE", () => {
  test("with a constant shape", () => {
    const shape = { type: "INT32", shape: [2], data: [1, -1] } as const;
    expect(importLines(oneOperator("RESHAPE", { x: f, shape }, { y: flat }))).toEqual([
      "RESHAPE(in0, INT32[2](1,-1)) -> out0",
    ]);
  });

  test("an INT64 shape is narrowed", () => {
    const shape = { type: "INT64", shape: [2], data: [1, -1] } as const;
    const { model } = importTflite(oneOperator("RESHAPE", { x: f, shape }, { y: flat }));
    expect(importLines(oneOperator("RESHAPE", { x: f, shape }, { y: flat }))).toEqual([
      "RESHAPE(in0, INT32[2](1,-1)) -> out0",
    ]);
    expect(model.pools).toEqual([]);
    const huge = { type: "INT64", shape: [2], data: [1, 2 ** 31] } as const;
    expect(() =>
      importTflite(oneOperator("RESHAPE", { x: f, shape: huge }, { y: flat }), { extensions: false }),
    ).toThrow("the HAL has 32-bit integers only, and 2147483648 does not fit");
  });

  test("with the shape as an option, or none at all", () => {
    expect(importLines(oneOperator("RESHAPE", { x: f }, { y: flat }, { newShape: [1, -1] }))).toEqual([
      "RESHAPE(in0, INT32[2](1,-1)) -> out0",
    ]);
    expect(importLines(oneOperator("RESHAPE", { x: f }, { y: flat }))).toEqual(["RESHAPE(in0, INT32[2](1,6)) -> out0"]);
  });

  test.each([
    ["no dimensions", { type: "INT32", shape: [0] }],
    ["one dimension of 0", { type: "INT32", shape: [1], data: [0] }],
  ] as const)("to a scalar, told by %s", (_, shape) => {
    expect(importLines(oneOperator("RESHAPE", { x: one, shape }, { y: scalar }))).toEqual([
      "RESHAPE(in0, INT32[1](1)) -> out0",
    ]);
  });

  test("a computed shape is not needed if the result's is known, nor are the operators that compute it", () => {
    const model = modelOf({
      tensors: { x: f, s: { type: "INT32", shape: [3] }, p: { type: "INT32", shape: [2] }, y: flat },
      operators: [
        { name: "SHAPE", inputs: ["x"], outputs: ["s"] },
        { name: "UNIQUE", inputs: ["s"], outputs: ["p"] },
        { name: "RESHAPE", inputs: ["x", "p"], outputs: ["y"] },
      ],
      inputs: ["x"],
      outputs: ["y"],
    });
    expect(importLines(model)).toEqual(["RESHAPE(in0, INT32[2](1,6)) -> out0"]);
    expect(importTflite(model).operators).toEqual([{ name: "RESHAPE", index: 2 }]);
  });

  test("a computed shape is an operand if the result's is not known", () => {
    const y = { ...flat, shapeSignature: [-1, 6] };
    const model = oneOperator("RESHAPE", { x: f, shape: { type: "INT32", shape: [2] } }, { y });
    expect(importLines(model, { dynamicShapes: true })).toEqual(["RESHAPE(in0, in1) -> out0"]);
  });

  test("of INT32 is refused without the extension: HAL 1.3 has none", () => {
    const integers = { type: "INT32", shape: [1, 2] } as const;
    expect(() =>
      importTflite(oneOperator("RESHAPE", { x: integers }, { y: { ...integers, shape: [2] } }), { extensions: false }),
    ).toThrow("the HAL's RESHAPE takes these types since HAL aidl2 only");
  });
});

describe("SQUEEZE", () => {
  test.each([
    [[0], "INT32[1](0)"],
    [[-3], "INT32[1](0)"],
    [[], "no INT32[0]"],
  ])("of %j", (squeezeDims, operand) => {
    const y = { type: "FLOAT32", shape: [2, 3] } as const;
    expect(importLines(oneOperator("SQUEEZE", { x: f }, { y }, { squeezeDims }))).toEqual([
      `SQUEEZE(in0, ${operand}) -> out0`,
    ]);
  });

  test("an axis out of range is refused", () => {
    const y = { type: "FLOAT32", shape: [2, 3] } as const;
    expect(() =>
      importTflite(oneOperator("SQUEEZE", { x: f }, { y }, { squeezeDims: [3] }), { extensions: false }),
    ).toThrow("axis 3 is not within the 3 dimensions");
  });
});

describe("EXPAND_DIMS", () => {
  const y = { type: "FLOAT32", shape: [1, 2, 3, 1] } as const;
  test.each([
    [3, 3, [1, 2, 3, 1]],
    [-1, 3, [1, 2, 3, 1]],
    [-4, 0, [1, 1, 2, 3]],
  ])("axis %d counts from the front as %d", (axis, counted, shape) => {
    const inputs = { x: f, axis: { type: "INT32", shape: [], data: [axis] } } as const;
    const model = oneOperator("EXPAND_DIMS", inputs, { y: { ...y, shape } });
    expect(importLines(model)).toEqual([`EXPAND_DIMS(in0, ${counted}) -> out0`]);
  });

  test("of a scalar is RESHAPE: the HAL has it as one element in one dimension", () => {
    const model = oneOperator("EXPAND_DIMS", { x: scalar, axis: { type: "INT32", shape: [1], data: [0] } }, { y: one });
    expect(importLines(model)).toEqual(["RESHAPE(in0, INT32[1](1)) -> out0"]);
  });

  test("a computed axis is refused", () => {
    const model = oneOperator("EXPAND_DIMS", { x: f, axis: { type: "INT32", shape: [1] } }, { y });
    expect(() => importTflite(model, { extensions: false })).toThrow(
      "the HAL needs the axis (input 1) as a constant, and it is computed",
    );
  });

  test("two axes are refused", () => {
    const model = oneOperator("EXPAND_DIMS", { x: f, axis: { type: "INT32", shape: [2], data: [0, 1] } }, { y });
    expect(() => importTflite(model, { extensions: false })).toThrow(
      "the axis (input 1): expected one integer, got [0, 1]",
    );
  });
});

test("TRANSPOSE", () => {
  const perm = { type: "INT32", shape: [3], data: [2, 0, 1] } as const;
  const y = { type: "FLOAT32", shape: [3, 1, 2] } as const;
  expect(importLines(oneOperator("TRANSPOSE", { x: f, perm }, { y }))).toEqual([
    "TRANSPOSE(in0, INT32[3](2,0,1)) -> out0",
  ]);
});

test("TRANSPOSE counts negative axes from the end", () => {
  const perm = { type: "INT32", shape: [3], data: [-1, 0, -2] } as const;
  const y = { type: "FLOAT32", shape: [3, 1, 2] } as const;
  expect(importLines(oneOperator("TRANSPOSE", { x: f, perm }, { y }))).toEqual([
    "TRANSPOSE(in0, INT32[3](2,0,1)) -> out0",
  ]);
});

describe("an axis that is computed is the extension's", () => {
  const x = { type: "FLOAT32", shape: [2, 4] } as const;
  const axis = { type: "INT32", shape: [1] } as const;
  const half = { type: "FLOAT32", shape: [2, 2] } as const;
  const given = [1, 8, 3, 4, 5, 6, 7, 2];
  test.each([
    ["EXPAND_DIMS", { x, axis }, { y: { type: "FLOAT32", shape: [2, 1, 4] } }, {}, [given]],
    ["ARG_MAX", { x, axis }, { y: { type: "INT32", shape: [2] } }, { outputType: "INT32" }, [[1, 2]]],
    ["ARG_MIN", { x, axis }, { y: { type: "INT64", shape: [2] } }, { outputType: "INT64" }, [[0, 3]]],
    [
      "SPLIT",
      { axis, x },
      { a: half, b: half },
      { numSplits: 2 },
      [
        [1, 8, 5, 6],
        [3, 4, 7, 2],
      ],
    ],
  ] as const)("%s", async (name, inputs, outputs, options, wanted) => {
    const model = oneOperator(name, inputs, outputs, options);
    expect(await execute(importTflite(model), name === "SPLIT" ? [[1], given] : [given, [1]])).toEqual(wanted);
    expect(() => importTflite(model, { extensions: false })).toThrow("as a constant, and it is computed");
  });
});

describe("questions about shapes", () => {
  test.each(["INT32", "INT64"] as const)("SHAPE becomes an %s constant for those who read it", (type) => {
    const model = modelOf({
      tensors: { x: flat, s: { type, shape: [2] }, y: flat },
      operators: [
        { name: "SHAPE", inputs: ["x"], outputs: ["s"] },
        { name: "RESHAPE", inputs: ["x", "s"], outputs: ["y"] },
      ],
      inputs: ["x"],
      outputs: ["y"],
    });
    const open = changeModel(model, ({ tensors }) => ({
      tensors: tensors.map((one) => (one.name === "y" ? { ...one, shapeSignature: [-1, 6] } : one)),
    }));
    expect(importLines(open, { inputShapes: { x: [1, 6] } })).toEqual(["RESHAPE(in0, INT32[2](1,6)) -> out0"]);
  });

  test("SHAPE as an output is copied there", async () => {
    const model = oneOperator("SHAPE", { x: f }, { s: { type: "INT32", shape: [3] } });
    expect(importLines(model)).toEqual(["CAST(INT32[3](1,2,3)) -> out0"]);
    expect(importTflite(model).operators).toEqual([{ name: "", index: -1 }]);
    expect(await execute(importTflite(model), [])).toEqual([[1, 2, 3]]);
  });

  test("SHAPE of an unknown shape is refused", () => {
    const model = oneOperator(
      "SHAPE",
      { x: { ...f, shapeSignature: [-1, 2, 3] } },
      { s: { type: "INT32", shape: [3] } },
    );
    expect(() => importTflite(model, { dynamicShapes: true, extensions: false })).toThrow(
      "the input's shape [0, 2, 3] is not fully known",
    );
  });

  test("SHAPE of what an operator computes is of the extents that it has", async () => {
    const open = { ...flat, shapeSignature: [-1, 6] };
    const model = modelOf({
      tensors: { x: open, a: open, s: { type: "INT32", shape: [2] } },
      operators: [
        { name: "ABS", inputs: ["x"], outputs: ["a"] },
        { name: "SHAPE", inputs: ["a"], outputs: ["s"], options: { outType: "INT32" } },
      ],
      inputs: ["x"],
      outputs: ["s"],
    });
    const computed = ["ABS(in0) -> t0:FLOAT32[0,6]", "nnhal.tflite SHAPE(t0, 2) -> out0"];
    expect(importLines(model, { dynamicShapes: true })).toEqual(computed);
    expect(await execute(importTflite(model, { inputShapes: { x: [3, 6] } }), [])).toEqual([[3, 6]]);
    const fixed = changeModel(model, ({ tensors }) => ({
      tensors: tensors.map(({ shapeSignature: _, ...each }) => each),
    }));
    expect(importLines(fixed)).toEqual(["CAST(INT32[2](1,6)) -> out0"]);
    const stale = changeModel(fixed, ({ tensors }) => ({
      tensors: tensors.map((each) => (each.name === "s" ? { ...each, shape: [] } : each)),
    }));
    expect(importLines(stale)).toEqual(["ABS(in0) -> t0:FLOAT32[1,6]", "CAST(INT32[2](1,6)) -> out0"]);
  });

  test("RANK as an output is a tensor of one element", async () => {
    const model = oneOperator("RANK", { x: f }, { r: { type: "INT32", shape: [] } });
    expect(importLines(model)).toEqual(["CAST(INT32[1](3)) -> out0"]);
    expect(importTflite(model).outputs).toMatchObject([{ name: "r", type: "TENSOR_INT32", shape: [1] }]);
    expect(await execute(importTflite(model), [])).toEqual([[3]]);
  });

  test("RANK of a scalar is the constant 0", () => {
    const model = oneOperator("RANK", { x: scalar }, { r: { type: "INT32", shape: [] } });
    expect(importLines(model)).toEqual(["CAST(INT32[1](0)) -> out0"]);
  });

  test("RANK that an operator reads is a constant", () => {
    const model = modelOf({
      tensors: { x: f, r: { type: "INT32", shape: [] }, y: { type: "INT32", shape: [] } },
      operators: [
        { name: "RANK", inputs: ["x"], outputs: ["r"] },
        { name: "ADD", inputs: ["r", "r"], outputs: ["y"] },
      ],
      inputs: ["x"],
      outputs: ["y"],
    });
    expect(importLines(model)).toEqual(["CAST(INT32[1](6)) -> out0"]);
  });
});
