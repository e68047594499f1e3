import { describe, expect, test } from "vitest";
import {
  executeBytes,
  expectValid,
  ofOperators,
  oneOperator,
  problemOf,
  type TensorGiven,
} from "../_model.test-helper.ts";
import { importTflite } from "./import.ts";

const floats = (...shape: number[]) => ({ type: "FLOAT32", shape }) as const;
const ints = (...data: number[]) => ({ type: "INT32", shape: [data.length], data }) as const;

/** The shapes of the results, and their elements, for an input of these elements. */
async function results(
  model: ReturnType<typeof oneOperator>,
  elements: readonly number[],
  dimensions: readonly number[],
) {
  const imported = importTflite(model);
  expectValid(imported);
  const bytes = new Uint8Array(Float32Array.from(elements).buffer);
  const outputs = await executeBytes(imported, imported.inputs.length === 0 ? [] : [{ bytes, dimensions }]);
  return outputs.map((output) => [output.dimensions, Array.from(new Float32Array(output.bytes.slice().buffer))]);
}

describe("tensors without elements", () => {
  const x = floats(2, 2);
  const cases: [
    string,
    Record<string, TensorGiven>,
    TensorGiven,
    { readonly axis?: number },
    readonly number[],
    readonly number[],
  ][] = [
    ["SLICE", { x, begin: ints(1, 0), size: ints(0, 2) }, floats(0, 2), {}, [0, 2], []],
    ["STRIDED_SLICE", { x, begin: ints(1, 0), end: ints(1, 2), strides: ints(1, 1) }, floats(0, 2), {}, [0, 2], []],
    ["TILE", { x, multiples: ints(1, 0) }, floats(2, 0), {}, [2, 0], []],
    ["CONCATENATION", { x, none: { ...floats(0, 2), data: [] } }, floats(2, 2), { axis: 0 }, [2, 2], [1, 2, 3, 4]],
    ["SUM", { x, axes: ints() }, floats(2, 2), {}, [2, 2], [1, 2, 3, 4]],
    ["GATHER", { x, indexes: ints() }, floats(0, 2), {}, [0, 2], []],
  ];

  test.each(cases)("are operands of %s", async (name, inputs, y, options, shape, elements) => {
    expect(await results(oneOperator(name, inputs, { y }, options), [1, 2, 3, 4], [2, 2])).toEqual([[shape, elements]]);
  });

  test("are the extents of a scalar, whatever the file stores", async () => {
    const scalar = { type: "FLOAT32", shape: [], hasRank: true } as const;
    for (const stored of [[], [0]]) {
      const model = oneOperator("SHAPE", { x: scalar }, { y: { type: "INT32", shape: stored } });
      expect(await results(model, [7], [1])).toEqual([[[0], []]]);
      expect(problemOf(model, { extensions: false })).toContain("a constant without elements (INT32");
    }
  });

  test.each(["INT64", "FLOAT32"] as const)("are outputs of %s that are constants", async (type) => {
    const none = { type, shape: [0, 3], data: [] } as const;
    const model = ofOperators(
      { x, none, y: x },
      [{ name: "ABS", inputs: ["x"], outputs: ["y"] }],
      ["x"],
      ["y", "none"],
    );
    const imported = importTflite(model);
    expectValid(imported);
    const bytes = new Uint8Array(Float32Array.of(1, -2, 3, -4).buffer);
    const [, output] = await executeBytes(imported, [{ bytes, dimensions: [2, 2] }]);
    expect([imported.outputs[1]?.tensorType, output?.dimensions, output?.bytes.length]).toEqual([type, [0, 3], 0]);
  });

  test("are values between operators", async () => {
    const model = ofOperators(
      { x, begin: ints(0, 0), size: ints(0, 2), none: floats(0, 2), y: floats(2, 2) },
      [
        { name: "SLICE", inputs: ["x", "begin", "size"], outputs: ["none"] },
        { name: "CONCATENATION", inputs: ["none", "x"], outputs: ["y"], options: { axis: 0 } },
      ],
      ["x"],
      ["y"],
    );
    expect(await results(model, [1, 2, 3, 4], [2, 2])).toEqual([
      [
        [2, 2],
        [1, 2, 3, 4],
      ],
    ]);
  });

  test("are inputs with extents that the execution gives", async () => {
    const open = floats(0, 2);
    const abs = { name: "ABS", inputs: ["x"], outputs: ["y"] };
    const model = ofOperators({ x: open, y: open }, [abs], ["x"], ["y"]);
    expect(importTflite(model).inputs[0]?.shape).toEqual([0, 2]);
    expect(await results(model, [-1, 2], [1, 2])).toEqual([
      [
        [1, 2],
        [1, 2],
      ],
    ]);
    expect(await results(model, [], [0, 2])).toEqual([[[0, 2], []]]);
  });

  test("cannot be constants without the extension", () => {
    const model = oneOperator("SUM", { x, axes: ints() }, { y: x });
    expect(problemOf(model)).toContain("is a constant without elements (INT32[0]), which the HAL cannot express");
  });
});
