import { describe, expect, it } from "vitest";
import {
  declareOutput,
  f32,
  mismatchOf,
  q8,
  q8PerChannel,
  q8Symm,
  q8s,
  q16Symm,
  runForOne,
  valuesOf,
  versionOf,
} from "./_run.test-helper.ts";
import { dequantize } from "./dequantize.ts";

const output = declareOutput("TENSOR_FLOAT32");

describe("DEQUANTIZE", () => {
  it.each([
    ["TENSOR_QUANT8_ASYMM", q8([3], 0.5, 100, [0, 100, 255]), [-50, 0, 77.5]],
    ["TENSOR_QUANT8_ASYMM_SIGNED", q8s([3], 0.5, -28, [-128, -28, 127]), [-50, 0, 77.5]],
    ["TENSOR_QUANT8_SYMM", q8Symm([3], 0.25, [-128, 0, 127]), [-32, 0, 31.75]],
  ] as const)("of %s is (x - zeroPoint) · scale", (_, input, expected) => {
    expect(valuesOf(runForOne(dequantize, [input], output))).toEqual(expected);
  });

  it("rounds the product once to float32", () => {
    const input = q8([1], 0.1, 0, [3]);
    expect(valuesOf(runForOne(dequantize, [input], output))).toEqual([Math.fround(3 * Math.fround(0.1))]);
    expect(valuesOf(runForOne(dequantize, [input], declareOutput("TENSOR_FLOAT16")))).toEqual([0.300048828125]);
  });

  it.each([
    [0, [1, 2, 3, 4, 50, 60, 70, 80]],
    [1, [1, 2, 30, 40, 5, 6, 70, 80]],
    [2, [1, 20, 3, 40, 5, 60, 7, 80]],
  ])("with a scale for each index of dimension %d", (channelDim, expected) => {
    const input = q8PerChannel([2, 2, 2], [1, 10], channelDim, [1, 2, 3, 4, 5, 6, 7, 8]);
    expect(valuesOf(runForOne(dequantize, [input], output))).toEqual(expected);
  });

  it("refuses a number of scales that is not the extent of their dimension", () => {
    const input = q8PerChannel([2, 2], [1, 2, 3], 1, [1, 2, 3, 4]);
    expect(() => runForOne(dequantize, [input], output)).toThrow(
      "there are 3 scales where dimension 1 of the input has extent 2",
    );
    expect(() => runForOne(dequantize, [q8PerChannel([2], [1, 2], 1)], output)).toThrow("has extent undefined");
  });

  it("takes ranks 1 to 4, and no elements", () => {
    expect(runForOne(dequantize, [q8([1, 1, 1, 2], 1, 0)], output).dimensions).toEqual([1, 1, 1, 2]);
    expect(() => runForOne(dequantize, [q8([1, 1, 1, 1, 1], 1, 0)], output)).toThrow(
      "input: expected rank 1 to 4, got 5",
    );
    expect(runForOne(dequantize, [q8([0, 2], 1, 0)], output).dimensions).toEqual([0, 2]);
    expect(runForOne(dequantize, [q8PerChannel([2, 0], [1, 2], 0)], output).dimensions).toEqual([2, 0]);
  });

  it("has the HAL's versions", () => {
    const half = { outputs: [declareOutput("TENSOR_FLOAT16")] };
    const single = { outputs: [output] };
    expect(versionOf(dequantize, [q8([1], 1, 0)], single)).toBe("1.0");
    expect(versionOf(dequantize, [q8([1], 1, 0)], half)).toBe("1.2");
    for (const outputs of [half, single]) {
      expect(versionOf(dequantize, [q8Symm([1], 1)], outputs)).toBe("1.2");
      expect(versionOf(dequantize, [q8PerChannel([1], [1], 0)], outputs)).toBe("1.2");
      expect(versionOf(dequantize, [q8s([1], 1, 0)], outputs)).toBe("1.3");
    }
    expect(mismatchOf(dequantize, [f32([1])], single)).toContain(
      "input 0 (input): expected TENSOR_QUANT8_ASYMM, got TENSOR_FLOAT32",
    );
    expect(mismatchOf(dequantize, [q16Symm([1], 1)], single)).toContain(
      "input 0 (input): expected TENSOR_QUANT8_ASYMM, got TENSOR_QUANT16_SYMM",
    );
    expect(mismatchOf(dequantize, [q8([1], 1, 0)])).toContain(
      "output 0 (output): expected TENSOR_FLOAT32, got TENSOR_QUANT8_ASYMM",
    );
  });
});
