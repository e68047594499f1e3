import { describe, expect, it } from "vitest";
import { withArticle } from "./given.ts";
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

  const arrays = {
    Int8Array: new Int8Array(4),
    Uint8Array: new Uint8Array(4),
    Uint8ClampedArray: new Uint8ClampedArray(4),
    Int16Array: new Int16Array(2),
    Uint16Array: new Uint16Array(2),
    Int32Array: new Int32Array(1),
    Uint32Array: new Uint32Array(1),
    Float32Array: new Float32Array(1),
    Float64Array: new Float64Array(1),
    BigInt64Array: new BigInt64Array(1),
    DataView: new DataView(new ArrayBuffer(4)),
    Buffer: Buffer.alloc(4),
  };
  const raw = ["Uint8Array", "DataView", "Buffer"];

  it.each([
    ["FLOAT32", ["Float32Array"]],
    ["TENSOR_FLOAT32", ["Float32Array"]],
    ["FLOAT16", ["Uint16Array"]],
    ["TENSOR_FLOAT16", ["Uint16Array"]],
    ["INT32", ["Int32Array"]],
    ["TENSOR_INT32", ["Int32Array"]],
    ["UINT32", ["Uint32Array"]],
    ["BOOL", []],
    ["TENSOR_BOOL8", []],
    ["TENSOR_QUANT8_ASYMM", ["Uint8ClampedArray"]],
    ["TENSOR_QUANT8_ASYMM_SIGNED", ["Int8Array"]],
    ["TENSOR_QUANT8_SYMM", ["Int8Array"]],
    ["TENSOR_QUANT8_SYMM_PER_CHANNEL", ["Int8Array"]],
    ["TENSOR_QUANT16_SYMM", ["Int16Array"]],
    ["TENSOR_QUANT16_ASYMM", ["Uint16Array"]],
    ["OEM", Object.keys(arrays)],
    ["TENSOR_OEM_BYTE", Object.keys(arrays)],
    ["com.example.one type 1", Object.keys(arrays)],
  ])("for %s accepts raw bytes and %s", (type, own) => {
    for (const [name, array] of Object.entries(arrays)) {
      const attempt = () => bytesOf(array, type, "setInput(0)");
      if (own.includes(name) || raw.includes(name)) expect(attempt).not.toThrow();
      else {
        expect(attempt).toThrow(expect.objectContaining({ code: ResultCode.BAD_DATA }));
        expect(attempt).toThrow(`${withArticle(name)} was given for ${withArticle(type)}, which takes`);
      }
    }
  });

  it("recognises an array of a subclass by the class that it extends", () => {
    class Numbers extends Float32Array {}
    expect(() => bytesOf(new Numbers(1), "FLOAT32", "test")).not.toThrow();
    expect(() => bytesOf(new Numbers(1), "INT32", "test")).toThrow("a Float32Array was given for an INT32");
  });
});
