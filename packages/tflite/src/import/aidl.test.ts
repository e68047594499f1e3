import { tfliteExtension } from "@nnhal/extension-tflite";
import { type HalVersion, halVersions } from "@nnhal/types";
import { minimumVersion, validateModel } from "@nnhal/validation";
import { describe, expect, test } from "vitest";
import { execute, oneOperator, showSubgraph, type TensorGiven } from "../_model.test-helper.ts";
import { importTflite } from "./import.ts";

type Given = Parameters<typeof oneOperator>;

const floats = (...shape: number[]) => ({ type: "FLOAT32", shape }) as const;
const list = (...data: number[]) => ({ type: "INT32", shape: [data.length], data }) as const;
const wholes = (...shape: number[]) => ({ type: "INT32", shape }) as const;
const bytes = (scale: number, ...shape: number[]): TensorGiven => ({ type: "INT8", shape, scale, zeroPoint: 0 });

/** The operations of a model that is imported for devices of a version; valid for them. */
function operationsFor(halVersion: HalVersion, ...given: Given): string[] {
  const imported = importTflite(oneOperator(...given), { halVersion });
  expect(validateModel(imported.model, { version: halVersion, extensions: [tfliteExtension], mode: "runtime" })).toBe(
    true,
  );
  return showSubgraph(imported.model, imported.model.main).map((line) => line.replace(/\(.*/, ""));
}

const pads = { type: "INT32", shape: [2, 2], data: [1, 0, 0, 2] } as const;

/** Operators with the version from which on their HAL operation is used, and the operations before it. */
const operators: readonly (readonly [operation: string, since: HalVersion, before: readonly string[], given: Given])[] =
  [
    [
      "PACK",
      "aidl2",
      ["EXPAND_DIMS", "EXPAND_DIMS", "CONCATENATION"],
      ["PACK", { a: floats(2), b: floats(2) }, { y: floats(2, 2) }, { axis: -1, valuesCount: 2 }],
    ],
    [
      "MIRROR_PAD",
      "aidl3",
      ["GATHER", "GATHER"],
      ["MIRROR_PAD", { x: floats(2, 3), pads }, { y: floats(3, 5) }, { mode: "REFLECT" }],
    ],
    ["REVERSE", "aidl3", ["GATHER"], ["REVERSE_V2", { x: floats(2, 3), axes: list(-1) }, { y: floats(2, 3) }, {}]],
    [
      "RESHAPE",
      "aidl2",
      ["nnhal.tflite RESHAPE"],
      ["RESHAPE", { x: wholes(2, 3), shape: list(6) }, { y: wholes(6) }, {}],
    ],
    [
      "BATCH_MATMUL",
      "aidl2",
      ["nnhal.tflite BATCH_MATMUL"],
      ["BATCH_MATMUL", { x: floats(2, 2, 3), y: floats(2, 3, 4) }, { z: floats(2, 2, 4) }, {}],
    ],
    ["RSQRT", "aidl3", ["DEQUANTIZE", "RSQRT", "QUANTIZE"], ["RSQRT", { x: bytes(0.5, 4) }, { y: bytes(0.01, 4) }, {}]],
  ];

describe.each(operators)("%s, since %s", (operation, since, before, given) => {
  test("is used for devices that have it, and for no others", () => {
    for (const version of halVersions.filter((each) => each >= "1.3")) {
      expect([version, operationsFor(version, ...given)]).toEqual([version, version < since ? before : [operation]]);
    }
  });

  test("is not used by default", () => {
    const { model } = importTflite(oneOperator(...given));
    expect(Number(minimumVersion(model, { extensions: [tfliteExtension] }))).toBeLessThanOrEqual(1.3);
  });
});

describe("results", () => {
  const both = async (inputs: number[][], ...given: Given) =>
    Promise.all(
      (["1.3", "aidl4"] as const).map((halVersion) =>
        execute(importTflite(oneOperator(...given), { halVersion }), inputs),
      ),
    );

  test.each<[string, number[][], Given]>([
    [
      "PACK",
      [
        [1, 2],
        [3, 4],
      ],
      ["PACK", { a: floats(2), b: floats(2) }, { y: floats(2, 2) }, { axis: 1, valuesCount: 2 }],
    ],
    [
      "PACK of scalars",
      [[1], [2]],
      ["PACK", { a: floats(), b: floats() }, { y: floats(2) }, { axis: 0, valuesCount: 2 }],
    ],
    [
      "MIRROR_PAD, REFLECT",
      [[1, 2, 3, 4, 5, 6]],
      ["MIRROR_PAD", { x: floats(2, 3), pads }, { y: floats(3, 5) }, { mode: "REFLECT" }],
    ],
    [
      "MIRROR_PAD, SYMMETRIC",
      [[1, 2, 3, 4, 5, 6]],
      ["MIRROR_PAD", { x: floats(2, 3), pads }, { y: floats(3, 5) }, { mode: "SYMMETRIC" }],
    ],
    ["REVERSE_V2", [[1, 2, 3, 4, 5, 6]], ["REVERSE_V2", { x: floats(2, 3), axes: list(0) }, { y: floats(2, 3) }, {}]],
    [
      "REVERSE_V2 of two axes",
      [[1, 2, 3, 4, 5, 6]],
      ["REVERSE_V2", { x: floats(2, 3), axes: list(0, 1) }, { y: floats(2, 3) }, {}],
    ],
    [
      "BATCH_MATMUL, turned",
      [
        [1, 2, 3, 4, 5, 6],
        [7, 8, 9, 10, 11, 12],
      ],
      ["BATCH_MATMUL", { x: floats(3, 2), y: floats(2, 3) }, { z: floats(2, 2) }, { adjX: true, adjY: true }],
    ],
    [
      "BATCH_MATMUL that repeats a batch",
      [
        [1, 2, 3, 4],
        [5, 6],
      ],
      ["BATCH_MATMUL", { x: floats(2, 1, 2), y: floats(1, 2, 1) }, { z: floats(2, 1, 1) }, {}],
    ],
    [
      "RESHAPE of integers",
      [[1, 2, 3, 4, 5, 6]],
      ["RESHAPE", { x: wholes(2, 3), shape: list(6) }, { y: wholes(6) }, {}],
    ],
  ])("of %s are those without AIDL", async (_, inputs, given) => {
    const [old, added] = await both(inputs, ...given);
    expect(added).toEqual(old);
  });
});

test("products of bytes, and of batches that differ, stay those of the extension", () => {
  const ofBytes = [{ x: bytes(0.5, 2, 2), y: bytes(0.5, 2, 2) }, { z: bytes(1, 2, 2) }] as const;
  expect(operationsFor("aidl4", "BATCH_MATMUL", ...ofBytes, {})).toEqual(["nnhal.tflite BATCH_MATMUL"]);
  const broadcast = [{ x: floats(2, 1, 2), y: floats(1, 2, 1) }, { z: floats(2, 1, 1) }] as const;
  expect(operationsFor("aidl4", "BATCH_MATMUL", ...broadcast, {})).toEqual(["nnhal.tflite BATCH_MATMUL"]);
});

test("a version that there is not is refused", () => {
  const halVersion = "aidl5" as HalVersion;
  const model = oneOperator("NEG", { x: floats(2) }, { y: floats(2) }, {});
  expect(() => importTflite(model, { halVersion })).toThrow("options.halVersion");
});
