import { describe, expect, test } from "vitest";
import { execute, importLines, oneOperator } from "../../_model.test-helper.ts";
import { importTflite } from "../import.ts";

const image = { type: "FLOAT32", shape: [1, 4, 6, 1] } as const;
const pooled = { type: "FLOAT32", shape: [1, 2, 2, 1] } as const;
const window = {
  padding: "SAME",
  strideW: 3,
  strideH: 2,
  filterWidth: 5,
  filterHeight: 4,
  fusedActivationFunction: "RELU",
};

describe("pools", () => {
  test.each(["AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"])("%s: width before height", (name) => {
    expect(importLines(oneOperator(name, { x: image }, { y: pooled }, window))).toEqual([
      `${name}(in0, 1, 3, 2, 5, 4, 1) -> out0`,
    ]);
  });

  test("a padding newer than the schema is refused", () => {
    const model = oneOperator("MAX_POOL_2D", { x: image }, { y: pooled }, { ...window, padding: 2 });
    expect(() => importTflite(model, { extensions: false })).toThrow("option padding: expected a known member, got 2");
  });

  test("another quantisation of the result goes by way of float without the extension", () => {
    const q8 = { type: "UINT8", scale: 0.5, zeroPoint: 3 } as const;
    const model = (scale: number) =>
      oneOperator("AVERAGE_POOL_2D", { x: { ...image, ...q8 } }, { y: { ...pooled, ...q8, scale } }, window);
    expect(importLines(model(0.5))).toEqual(["AVERAGE_POOL_2D(in0, 1, 3, 2, 5, 4, 1) -> out0"]);
    const lines = importLines(model(0.25), { extensions: false });
    expect(lines.map((line) => line.split("(")[0])).toEqual(["DEQUANTIZE", "AVERAGE_POOL_2D", "QUANTIZE"]);
  });

  test.each([
    // The mean of 10 and 13 is rounded away from 0; the activation is that of the result, whose 0 is 10 and whose 6 is 85.
    ["AVERAGE_POOL_2D", "INT8", "NONE", [10, 13], 12],
    ["AVERAGE_POOL_2D", "INT8", "RELU", [0, 4], 10],
    ["AVERAGE_POOL_2D", "INT8", "RELU6", [100, 100], 85],
    ["AVERAGE_POOL_2D", "UINT8", "NONE", [10, 13], 12],
    ["MAX_POOL_2D", "INT16", "NONE", [10, 13], 13],
    ["AVERAGE_POOL_2D", "INT16", "RELU", [-9, -5], 0],
  ] as const)("%s of %s pools what is stored, with %s", async (name, type, fusedActivationFunction, given, wanted) => {
    const zeroPoint = type === "INT16" ? 0 : 10;
    const x = { type, shape: [1, 1, 2, 1], scale: 0.05, zeroPoint: type === "INT16" ? 0 : 3 } as const;
    const y = { ...x, shape: [1, 1, 1, 1], scale: 0.08, zeroPoint };
    const size = { padding: "VALID", strideW: 1, strideH: 1, filterWidth: 2, filterHeight: 1 };
    const model = oneOperator(name, { x }, { y }, { ...size, fusedActivationFunction });
    expect(await execute(importTflite(model), [given])).toEqual([[wanted]]);
  });
});

describe("resizing", () => {
  const size = { type: "INT32", shape: [2], data: [8, 12] } as const;
  const large = { type: "FLOAT32", shape: [1, 8, 12, 1] } as const;
  const resize = (name: string, options = {}, given: object = size) =>
    oneOperator(name, { x: image, size: given }, { y: large }, options);

  test("RESIZE_BILINEAR: the HAL's width comes first", () => {
    expect(importLines(resize("RESIZE_BILINEAR"))).toEqual(["RESIZE_BILINEAR(in0, 12, 8) -> out0"]);
    expect(importLines(resize("RESIZE_BILINEAR", { alignCorners: true }))).toEqual([
      "RESIZE_BILINEAR(in0, 12, 8, 0, 1, 0) -> out0",
    ]);
    expect(importLines(resize("RESIZE_BILINEAR", { halfPixelCenters: true }))).toEqual([
      "RESIZE_BILINEAR(in0, 12, 8, 0, 0, 1) -> out0",
    ]);
  });

  test("RESIZE_NEAREST_NEIGHBOR always has its layout operand", () => {
    expect(importLines(resize("RESIZE_NEAREST_NEIGHBOR"))).toEqual(["RESIZE_NEAREST_NEIGHBOR(in0, 12, 8, 0) -> out0"]);
    expect(importLines(resize("RESIZE_NEAREST_NEIGHBOR", { halfPixelCenters: true }))).toEqual([
      "RESIZE_NEAREST_NEIGHBOR(in0, 12, 8, 0, 0, 1) -> out0",
    ]);
  });

  test("both modes at once are refused", () => {
    const model = resize("RESIZE_BILINEAR", { alignCorners: true, halfPixelCenters: true });
    expect(() => importTflite(model, { extensions: false })).toThrow(
      "alignCorners and halfPixelCenters exclude each other",
    );
  });

  test("a computed size is replaced by the result's own", () => {
    expect(importLines(resize("RESIZE_BILINEAR", {}, { type: "INT32", shape: [2] }))).toEqual([
      "RESIZE_BILINEAR(in0, 12, 8) -> out0",
    ]);
  });

  test.each([
    [[8], "[8]"],
    [[0, 12], "[0, 12]"],
  ])("the size %j is refused", (data, shown) => {
    const model = resize("RESIZE_BILINEAR", {}, { type: "INT32", shape: [data.length], data });
    expect(() => importTflite(model, { extensions: false })).toThrow(
      `the HAL needs the size as two constants of at least 1, it is ${shown}`,
    );
  });
});
