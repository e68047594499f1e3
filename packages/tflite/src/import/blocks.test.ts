import { describe, expect, test } from "vitest";
import { execute, expectValid, oneOperator, problemOf, type TensorGiven } from "../_model.test-helper.ts";
import type { TfliteBlocks } from "../model.ts";
import { readTflite } from "../read.ts";
import { writeTflite } from "../write.ts";
import { importTflite } from "./import.ts";
import type { ImportOptions } from "./options.ts";

/** Two rows of 4 elements in blocks of 2: 1, -2, 3, 7 and -8, 0, 5, -1. Low bits first, two elements in a byte. */
const packed = [0xe1, 0x73, 0x08, 0xf5];
const [quarter, one, two, half] = [0x3400, 0x3c00, 0x4000, 0x3800];
/** The real values, by the scales 1, 2, 0.5 and 0.25. */
const reals = [
  [1, -2, 6, 14],
  [-4, 0, 1.25, -0.25],
] as const;

const floats = (...shape: number[]) => ({ type: "FLOAT32", shape }) as const;
const scales = (...data: number[]): TensorGiven => ({ type: "FLOAT16", shape: [data.length], data });
const stated: TfliteBlocks = { scales: 2, zeroPoints: -1, blockSize: 2 };
const weights = (more: Partial<TensorGiven> = {}): TensorGiven => ({
  ...{ type: "INT4", shape: [2, 4], data: packed, blocks: stated },
  ...more,
});

/** The scales are tensor 2, which the operator has as its bias in the file; the tests take it away. */
function layer(name: string, tensors: Readonly<Record<string, TensorGiven>>, y: TensorGiven, options = {}) {
  const model = oneOperator(name, tensors, { y }, options);
  const [subgraph, ...others] = model.subgraphs;
  if (subgraph === undefined) throw new TypeError("the model has no subgraph");
  const operators = subgraph.operators.map((operator) => ({ ...operator, inputs: operator.inputs.toSpliced(2, 1) }));
  return { ...model, subgraphs: [{ ...subgraph, operators }, ...others] };
}

const four = scales(one, two, half, quarter);
const connect = (changes: Readonly<Record<string, TensorGiven>> = {}, options = {}) =>
  layer("FULLY_CONNECTED", { x: floats(1, 4), w: weights(), s: four, ...changes }, floats(1, 2), options);

describe("weights in blocks with a scale each", () => {
  // -1.28 to 2.55 in 256 steps of 0.015: the input is quantised without a difference.
  const step = 0.015;
  const x = [255 * step - 1.275, -1.275, 0, 85 * step];
  const product = (row: readonly number[]) => row.reduce((sum, real, k) => sum + real * (x[k] ?? 0), 0);

  test.each([{}, { hybrid: "widened" }, { extensions: false }] as ImportOptions[])(
    "of FULLY_CONNECTED with %j",
    async (options) => {
      const imported = importTflite(writeTflite(connect()), options);
      expectValid(imported);
      const [result = []] = await execute(imported, [x]);
      for (const [unit, row] of reals.entries()) expect(result[unit]).toBeCloseTo(product(row), 4);
    },
  );

  test("and an activation", async () => {
    const imported = importTflite(connect({}, { fusedActivationFunction: "RELU" }));
    const [result = []] = await execute(imported, [x]);
    expect(result[0]).toBeCloseTo(Math.max(0, product(reals[0])), 4);
    expect(result[1]).toBeCloseTo(Math.max(0, product(reals[1])), 4);
  });

  test.each([{}, { extensions: false }] as ImportOptions[])("of EMBEDDING_LOOKUP with %j", async (options) => {
    const tensors = { i: { type: "INT32", shape: [3] }, w: weights(), s: four } as const;
    const imported = importTflite(layer("EMBEDDING_LOOKUP", tensors, floats(3, 4)), options);
    expectValid(imported);
    expect(await execute(imported, [[1, 0, 1]])).toEqual([[...reals[1], ...reals[0], ...reals[1]]]);
  });

  test("of EMBEDDING_LOOKUP of INT2, to FLOAT16", () => {
    const tensors = {
      i: { type: "INT32", shape: [1] },
      w: weights({ type: "INT2", shape: [4, 4] }),
      s: scales(...Array.from({ length: 8 }, () => one)),
    } as const;
    expectValid(importTflite(layer("EMBEDDING_LOOKUP", tensors, { type: "FLOAT16", shape: [1, 4] })));
  });

  test("are read as they are written, along several dimensions too", () => {
    for (const blocks of [stated, { ...stated, dimensions: [0, 1] }]) {
      const read = readTflite(writeTflite(connect({ w: weights({ blocks }) })));
      expect(read.subgraphs[0]?.tensors[1]?.blocks).toEqual(blocks);
    }
  });

  test.each([
    [
      "the wrong size",
      { w: weights({ blocks: { ...stated, blockSize: 3 } }) },
      "rows of [2, 4] do not divide into blocks of 3",
    ],
    ["no size", { w: weights({ blocks: { ...stated, blockSize: 0 } }) }, "do not divide into blocks of 0"],
    ["too few scales", { s: scales(one, two, half) }, "expected 4 FLOAT16 constants, got FLOAT16[3]"],
    ["scales that are not constant", { w: weights({ blocks: { ...stated, scales: 0 } }) }, "got FLOAT32[1, 4]"],
    [
      "elements of 2 bits",
      { w: weights({ type: "INT2", shape: [4, 4] }) },
      "blocks of INT2 are not supported for FULLY_CONNECTED",
    ],
    [
      "quantised inputs",
      { x: { type: "INT8", shape: [1, 4], scale: 1 } },
      "weights in blocks need FLOAT32 inputs, they are INT8",
    ],
    ["several dimensions", { w: weights({ blocks: { ...stated, dimensions: [0, 1] } }) }, "along several dimensions"],
  ] as [string, Record<string, TensorGiven>, string][])("with %s are refused", (_, changes, message) => {
    expect(problemOf(connect(changes))).toContain(message);
  });

  test("are refused for other operators", () => {
    const model = layer(
      "CONV_2D",
      { x: floats(1, 1, 1, 4), w: weights({ shape: [2, 1, 1, 4] }), s: four },
      floats(1, 1, 1, 2),
    );
    expect(problemOf(model)).toContain(
      "input 1 is quantised by blocks; TensorFlow Lite computes that for input 1 of FULLY_CONNECTED",
    );
  });

  test("with the scales of a tensor that is not there are a broken file", () => {
    const model = connect({ w: weights({ blocks: { ...stated, scales: 9 } }) });
    expect(problemOf(model)).toContain("there is no tensor 9");
  });
});
