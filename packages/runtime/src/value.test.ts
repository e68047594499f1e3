import { describe, expect, it } from "vitest";
import { NeuralNetworksError, ResultCode } from "./result-code.ts";
import { bytesOf } from "./value.ts";

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

describe("bytesOf", () => {
  it("views a caller's array without copying", () => {
    const array = Float32Array.of(1, 2, 3).subarray(1);
    const bytes = bytesOf(array, "TENSOR_FLOAT32", "test");
    expect([bytes.buffer, bytes.byteOffset, bytes.length]).toEqual([array.buffer, 4, 8]);
  });

  it.each([
    ["FLOAT32", 1, "0000803f"],
    ["FLOAT16", 1, "003c"],
    ["INT32", -2, "feffffff"],
    ["UINT32", 0xffff_ffff, "ffffffff"],
    ["BOOL", true, "01"],
    ["BOOL", false, "00"],
  ] as const)("writes %s %s as %s", (type, value, expected) => {
    expect(hex(bytesOf(value, type, "test"))).toBe(expected);
  });

  it.each([
    ["INT32", 2 ** 31 - 1, true],
    ["INT32", 2 ** 31, false],
    ["INT32", -(2 ** 31), true],
    ["INT32", -(2 ** 31) - 1, false],
    ["INT32", 0.5, false],
    ["UINT32", 0, true],
    ["UINT32", -1, false],
    ["UINT32", 2 ** 32, false],
    ["TENSOR_FLOAT32", 1, false],
  ] as const)("for %s takes %s: %s", (type, value, taken) => {
    const attempt = () => bytesOf(value, type, "setInput(0)");
    if (taken) expect(attempt).not.toThrow();
    else {
      expect(attempt).toThrow(NeuralNetworksError);
      expect(attempt).toThrow(expect.objectContaining({ code: ResultCode.BAD_DATA }));
    }
  });
});
