/** Files whose stored shapes lack an extent of 1, such as [1] for [1, 1]: results have the shapes that follow, as in TensorFlow Lite. */
import { describe, expect, test } from "vitest";
import { executeBytes, expectValid, type OperatorGiven, ofOperators, type TensorGiven } from "../_model.test-helper.ts";
import { importTflite } from "./import.ts";

const int32 = (...values: readonly number[]) => new Uint8Array(Int32Array.from(values).buffer);
const float32 = (...values: readonly number[]) => new Uint8Array(Float32Array.from(values).buffer);

const tensors = {
  x: { type: "INT32", shape: [1] },
  sizes: { type: "INT32", shape: [2], data: [1, 1] },
  table: { type: "FLOAT32", shape: [3, 2], data: [1, 2, 3, 4, 5, 6] },
  depth: { type: "INT32", shape: [], data: [3] },
  on: { type: "FLOAT32", shape: [], data: [5] },
  off: { type: "FLOAT32", shape: [], data: [-1] },
} satisfies Record<string, TensorGiven>;

const lookups: readonly (readonly [OperatorGiven, readonly number[], Uint8Array])[] = [
  [
    { name: "GATHER", inputs: ["table", "places"], outputs: ["y"], options: { axis: 0, batchDims: 0 } },
    [1, 1, 2],
    float32(5, 6),
  ],
  [
    { name: "ONE_HOT", inputs: ["places", "depth", "on", "off"], outputs: ["y"], options: { axis: -1 } },
    [1, 1, 3],
    float32(-1, -1, 5),
  ],
];

describe.each(lookups)("$name of places of the shape [1, 1]", (lookup, dimensions, bytes) => {
  const stored: readonly (readonly [places: readonly number[], result: readonly number[]])[] = [
    [[1, 1], dimensions],
    [[1], dimensions],
    [[1], [1]],
    [[1, 1], [1]],
    [[1], [1, 3]],
    [[], []],
  ];

  test.each(stored)("that are stored as %j, with the result as %j", async (places, result) => {
    const reshape = { name: "RESHAPE", inputs: ["x", "sizes"], outputs: ["places"], options: { newShape: [1, 1] } };
    const all = {
      ...tensors,
      places: { type: "INT32", shape: places },
      y: { type: "FLOAT32", shape: result },
    } as const;
    const imported = importTflite(ofOperators(all, [reshape, lookup], ["x"], ["y"]));
    expectValid(imported);
    expect(await executeBytes(imported, [{ bytes: int32(2), dimensions: [1] }])).toEqual([{ bytes, dimensions }]);
  });
});
