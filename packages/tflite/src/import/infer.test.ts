import { decodeStrings, encodeStrings } from "@nnhal/extension-tflite";
import { describe, expect, test } from "vitest";
import { execute, executeBytes, importLines, ofOperators, oneOperator, problemOf } from "../_model.test-helper.ts";
import { importTflite } from "./import.ts";

// A file for images of any size, whose stored shapes are those of a size of 1.
const image = { type: "FLOAT32", shape: [1, 4, 4, 1] } as const;
const open = { type: "FLOAT32", shape: [1, 1, 1, 1], shapeSignature: [-1, -1, -1, 1] } as const;
const block = { type: "INT32", shape: [2], data: [2, 2] } as const;
const margins = (...data: number[]) => ({ type: "INT32", shape: [2, 2], data }) as const;

const model = ofOperators(
  { x: image, block, none: margins(0, 0, 0, 0), crops: margins(0, 1, 1, 0), a: open, b: open, y: open },
  [
    { name: "SPACE_TO_BATCH_ND", inputs: ["x", "block", "none"], outputs: ["a"] },
    { name: "ABS", inputs: ["a"], outputs: ["b"] },
    { name: "BATCH_TO_SPACE_ND", inputs: ["b", "block", "crops"], outputs: ["y"] },
  ],
  ["x"],
  ["y"],
);

describe("shapes that the file leaves open", () => {
  test("follow from those of the inputs", async () => {
    expect(importLines(model)).toEqual([
      "SPACE_TO_BATCH_ND(in0, INT32[2](2,2), INT32[2,2](0,0,0,0)) -> t0:FLOAT32[4,2,2,1]",
      "ABS(t0) -> t1:FLOAT32[4,2,2,1]",
      "BATCH_TO_SPACE_ND(t1, INT32[2](2,2)) -> t2:FLOAT32[1,4,4,1]",
      "SLICE(t2, INT32[4](0,0,1,0), INT32[4](-1,3,3,-1)) -> out0",
    ]);
    const imported = importTflite(model);
    expect(imported.outputs[0]?.shape).toEqual([1, 3, 3, 1]);
    const given = Array.from({ length: 16 }, (_, i) => i);
    expect(await execute(imported, [given])).toEqual([[1, 2, 3, 5, 6, 7, 9, 10, 11]]);
  });

  test("are unknown if the data determine them, whatever the file stores", async () => {
    const condition = { type: "INT32", shape: [2, 3] } as const;
    const places = { type: "INT64", shape: [1, 2], shapeSignature: [-1, 2] } as const;
    const where = ofOperators(
      { condition, places, y: { ...places, type: "FLOAT32" } },
      [
        { name: "WHERE", inputs: ["condition"], outputs: ["places"] },
        { name: "CAST", inputs: ["places"], outputs: ["y"] },
      ],
      ["condition"],
      ["y"],
    );
    const imported = importTflite(where);
    expect(imported.outputs[0]?.shape).toEqual([0, 2]);
    const given = { bytes: new Uint8Array(Int32Array.of(0, 5, 0, 0, 0, -1).buffer), dimensions: [2, 3] };
    const [result] = await executeBytes(imported, [given]);
    expect(result?.dimensions).toEqual([2, 2]);
    expect(new Float32Array(result?.bytes.buffer ?? new ArrayBuffer())).toEqual(Float32Array.of(0, 1, 1, 2));
  });

  const numbers = { type: "FLOAT32", shape: [2, 3] } as const;
  const ints = (...shape: number[]) => ({ type: "INT32", shape }) as const;
  const one = { type: "INT32", shape: [], data: [1] } as const;
  const anyShape = (...signature: number[]) =>
    ({ type: "FLOAT32", shape: signature.map(() => 1), shapeSignature: signature }) as const;
  const six = [1, 2, 3, 4, 5, 6];

  test.each([
    ["RESHAPE", { x: numbers, shape: ints(2) }, anyShape(-1, -1), {}, [six, [3, 2]], [3, 2], six],
    ["FILL", { shape: ints(2), value: one }, { ...anyShape(-1, -1), type: "INT32" }, {}, [[1, 2]], [1, 2], [1, 1]],
    [
      "SLICE",
      { x: numbers, begin: ints(2), size: ints(2) },
      anyShape(-1, -1),
      {},
      [six, [0, 1], [2, 2]],
      [2, 2],
      [2, 3, 5, 6],
    ],
    ["TRANSPOSE", { x: numbers, axes: ints(2) }, anyShape(-1, -1), {}, [six, [1, 0]], [3, 2], [1, 4, 2, 5, 3, 6]],
    ["SUM", { x: numbers, axes: ints(1) }, anyShape(-1), {}, [six, [1]], [2], [6, 15]],
    ["RANGE", { start: one, limit: ints(), step: one }, { ...anyShape(-1), type: "INT32" }, {}, [[4]], [3], [1, 2, 3]],
    [
      // Fewer elements than the input has axes.
      "STRIDED_SLICE",
      { x: numbers, begin: ints(1), end: ints(1), strides: { ...ints(1), data: [1] } },
      { ...anyShape(-1, 3), shape: [1, 3] },
      {},
      [six, [1], [2]],
      [1, 3],
      [4, 5, 6],
    ],
    [
      "RESIZE_NEAREST_NEIGHBOR",
      { x: { type: "FLOAT32", shape: [1, 1, 2, 1] }, size: ints(2) },
      anyShape(1, -1, -1, 1),
      {},
      [
        [1, 2],
        [2, 2],
      ],
      [1, 2, 2, 1],
      [1, 2, 1, 2],
    ],
  ] as const)("of %s are those of a shape that is computed", async (name, inputs, y, options, given, shape, values) => {
    const imported = importTflite(oneOperator(name, inputs, { y }, options));
    const [result] = await executeBytes(
      imported,
      imported.inputs.map(({ type, shape: dimensions }, place) => {
        const array = type === "TENSOR_FLOAT32" ? Float32Array : Int32Array;
        return { bytes: new Uint8Array(array.from(given[place] ?? []).buffer), dimensions };
      }),
    );
    expect(result?.dimensions).toEqual(shape);
    const array = y.type === "FLOAT32" ? Float32Array : Int32Array;
    expect(Array.from(new array(result?.bytes.slice().buffer ?? new ArrayBuffer()))).toEqual(values);
  });

  test("stay as the file stores them without the extension, although a shape is computed", () => {
    const model = oneOperator("RESHAPE", { x: numbers, shape: ints(2) }, { y: { ...anyShape(-1, 2), shape: [3, 2] } });
    expect(importTflite(model, { extensions: false }).outputs[0]?.shape).toEqual([3, 2]);
    expect(importTflite(model).outputs[0]?.shape).toEqual([0, 2]);
  });

  test("of words are those of the sentence", async () => {
    const string = { type: "STRING", shape: [1] } as const;
    const options = { ngramSize: 2, maxSkipSize: 0, includeAllNgrams: false };
    for (const y of [string, { ...string, shapeSignature: [-1] }]) {
      const imported = importTflite(oneOperator("SKIP_GRAM", { x: string }, { y }, options));
      const [result] = await executeBytes(imported, [encodeStrings(["a b c"])]);
      expect(result && decodeStrings(result)).toEqual(["a b", "b c"]);
    }
  });

  const plain = (...shape: number[]) => ({ type: "FLOAT32", shape }) as const;

  test.each([[[]], [[1]], [[7, 7]], [[3, 2]], [[6]]])(
    "follow from the inputs if the file stores %j and leaves nothing open",
    async (stored) => {
      const chain = ofOperators(
        { x: numbers, a: plain(...stored), b: plain(...stored), s: ints(...stored), y: plain(...stored) },
        [
          { name: "ABS", inputs: ["x"], outputs: ["a"] },
          { name: "CONCATENATION", inputs: ["a", "a"], outputs: ["b"], options: { axis: -1 } },
          { name: "SHAPE", inputs: ["a"], outputs: ["s"] },
          { name: "RESHAPE", inputs: ["a", "s"], outputs: ["y"] },
        ],
        ["x"],
        ["y", "b"],
      );
      const imported = importTflite(chain);
      const shapes = [
        [2, 3],
        [2, 6],
      ];
      expect(imported.outputs.map(({ shape }) => shape)).toEqual(shapes);
      expect(await execute(imported, [six])).toEqual([six, [1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6]]);
      expect(importTflite(chain, { dynamicShapes: true }).outputs.map(({ shape }) => shape)).toEqual(shapes);
    },
  );

  test.each(["ADD", "SUB", "MUL", "DIV", "SQUARED_DIFFERENCE"])(
    "of a result of %s have the type of the inputs, whatever the file stores",
    (name) => {
      const tensors = { x: numbers, a: ints(2, 3), y: numbers };
      const operators = [
        { name, inputs: ["x", "x"], outputs: ["a"] },
        { name: "ABS", inputs: ["a"], outputs: ["y"] },
      ];
      expect(importLines(ofOperators(tensors, operators, ["x"], ["y"])).at(-1)).toMatch(/^ABS\(t\d\) -> out0$/);
      const [output] = importTflite(ofOperators(tensors, operators.slice(0, 1), ["x"], ["a"])).outputs;
      expect(output).toMatchObject({ tensorType: "FLOAT32", type: "TENSOR_FLOAT32" });
    },
  );

  test("of a result that has no stored shape and that the data determine are unknown, with their number", async () => {
    const tiled = oneOperator("TILE", { x: numbers, multiples: ints(2) }, { y: plain() });
    const imported = importTflite(tiled);
    expect(imported.outputs[0]?.shape).toEqual([]);
    const bytes = (values: ArrayBufferView<ArrayBuffer>) => new Uint8Array(values.buffer);
    const [result] = await executeBytes(imported, [
      { bytes: bytes(Float32Array.from(six)), dimensions: [2, 3] },
      { bytes: bytes(Int32Array.of(1, 2)), dimensions: [2] },
    ]);
    expect(result?.dimensions).toEqual([2, 6]);
  });

  test("stay unknown on request", () => {
    const abs = ofOperators({ x: open, y: open }, [{ name: "ABS", inputs: ["x"], outputs: ["y"] }], ["x"], ["y"]);
    expect(importTflite(abs, { dynamicShapes: true }).outputs[0]?.shape).toEqual([0, 0, 0, 1]);
  });
});

test("a constant that is shorter than its shape is refused where shapes are inferred from it", () => {
  const short = { type: "FLOAT32", shape: [1, 2], data: [1] } as const;
  const tensors = { x: { type: "FLOAT32", shape: [1, 2] }, short, y: { type: "FLOAT32", shape: [1, 1] } } as const;
  const layer = { name: "FULLY_CONNECTED", inputs: ["x", "short"], outputs: ["y"] } as const;
  expect(problemOf(ofOperators(tensors, [layer], ["x"], ["y"]))).toContain("its value has 4");
});
