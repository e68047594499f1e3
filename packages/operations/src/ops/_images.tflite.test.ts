import { describe, expect, it } from "vitest";
import { tfliteTypes } from "../tflite-types.ts";
import { bool, type GivenInput, int32, runOperation } from "./_run.tflite.test-helper.ts";

const INT16 = "TENSOR_QUANT16_SYMM";
const image = (dimensions: number[], values: number[], scale = 1): GivenInput => ({
  type: INT16,
  dimensions,
  data: Int16Array.from(values),
  scale,
});
const output = [{ type: INT16, scale: 1 }] as const;
const one = int32(1);

describe("pools of INT16", () => {
  const run = (name: string, scheme: number, activation: number) =>
    runOperation(
      name,
      [image([1, 1, 3, 1], [30000, 30001, -7]), int32(scheme), one, one, int32(2), one, int32(activation)],
      output,
    );

  it("average rounds halves away from 0 and leaves padding out", async () => {
    expect(await run("AVERAGE_POOL_2D", 1, 0)).toEqual([
      { dimensions: [1, 1, 3, 1], data: Int16Array.of(30001, 14997, -7) },
    ]);
    expect((await run("AVERAGE_POOL_2D", 1, 1))[0].data).toEqual(Int16Array.of(30001, 14997, 0));
  });

  it("maximum", async () => {
    expect(await run("MAX_POOL_2D", 2, 0)).toEqual([{ dimensions: [1, 1, 2, 1], data: Int16Array.of(30001, 30001) }]);
    expect((await run("MAX_POOL_2D", 1, 3))[0].data).toEqual(Int16Array.of(6, 6, 0));
  });

  it("refuse a window that does not fit", async () => {
    const inputs = [image([1, 1, 1, 1], [1]), int32(2), one, one, int32(2), one, int32(0)];
    await expect(runOperation("MAX_POOL_2D", inputs, output)).rejects.toThrow(
      "a window of 2 does not fit the width of 1",
    );
  });
});

describe("RESIZE_BILINEAR", () => {
  const square = image([1, 2, 2, 1], [0, 30000, -30000, 9000]);
  const resize = async (...inputs: GivenInput[]) => [
    ...(await runOperation("RESIZE_BILINEAR", inputs, output))[0].data,
  ];

  it("interpolates 16-bit elements in steps of 1/1024 of a pixel", async () => {
    // 2 to 3 columns: a step is (2048 + 1) / 3 = 683 of 1024, so that the second share is 683 and not 682.67.
    expect(await resize(image([1, 1, 2, 1], [0, 30000]), int32(3), one)).toEqual([0, 20010, 30000]);
    expect(await resize(square, int32(3), int32(3), bool(false), bool(true))).toEqual([
      0, 15000, 30000, -15000, 2250, 19500, -30000, -10500, 9000,
    ]);
  });

  it("has half-pixel centres", async () => {
    expect(await resize(image([1, 1, 2, 1], [0, 1000]), int32(4), one, bool(false), bool(false), bool(true))).toEqual([
      0, 250, 750, 1000,
    ]);
  });

  it.each(["RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"])("%s takes a size that is computed", async (name) => {
    const size = (...values: number[]): GivenInput => ({
      type: "TENSOR_INT32",
      dimensions: [values.length],
      data: Int32Array.from(values),
    });
    const input: GivenInput = { type: "TENSOR_FLOAT32", dimensions: [1, 1, 1, 1], data: Float32Array.of(4) };
    const run = (of: GivenInput) => runOperation(name, [input, of, bool(false)], [{ type: "TENSOR_FLOAT32" }]);
    expect(await run(size(1, 3))).toEqual([{ dimensions: [1, 1, 3, 1], data: Float32Array.of(4, 4, 4) }]);
    await expect(run(size(1))).rejects.toThrow("the size: expected 2 elements (height and width), got 1");
    await expect(run(size(1, 0))).rejects.toThrow("the output's width is 0, not within 1 to 2147483647");
  });
});

describe("RESIZE_NEAREST_NEIGHBOR", () => {
  it.each([
    ["TENSOR_FLOAT16", Float32Array],
    ["TENSOR_QUANT16_ASYMM", Uint16Array],
    ["TENSOR_INT32", Int32Array],
    [tfliteTypes.TENSOR_UINT32, Uint32Array],
    ["TENSOR_BOOL8", Uint8Array],
  ] as const)("picks elements of type %j", async (type, Numbers) => {
    const scale = type === "TENSOR_QUANT16_ASYMM" ? 1 : 0;
    const input: GivenInput = { type, dimensions: [1, 1, 2, 1], data: Numbers.of(0, 1), scale };
    const [result] = await runOperation(
      "RESIZE_NEAREST_NEIGHBOR",
      [input, int32(3), int32(1), bool(false)],
      [{ type, scale }],
    );
    expect(result?.data).toEqual(Numbers.of(0, 0, 1));
  });

  it("picks 16-bit elements", async () => {
    const inputs = [image([1, 1, 2, 1], [-32768, 32767]), int32(3), one, bool(false)];
    expect(await runOperation("RESIZE_NEAREST_NEIGHBOR", inputs, output)).toEqual([
      { dimensions: [1, 1, 3, 1], data: Int16Array.of(-32768, -32768, 32767) },
    ]);
  });
});
