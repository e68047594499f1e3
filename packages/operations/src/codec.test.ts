import { type OperandTypeName, operandTypes } from "@nnhal/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { byteLength, copyTensorData, decodeTensorData, encodeTensorData } from "./codec.ts";
import { createData } from "./tensor.ts";

const types = (Object.keys(operandTypes) as OperandTypeName[]).filter((type) => operandTypes[type].elementSize > 0);

describe("tensor codec", () => {
  it.each(types)("gives back the bytes of %s at any offset", (type) => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.nat(7), (bytes, offset) => {
        const { elementSize } = operandTypes[type];
        const count = Math.floor(bytes.length / elementSize);
        const shifted = new Uint8Array(offset + bytes.length);
        shifted.set(bytes, offset);
        const data = decodeTensorData(type, shifted.subarray(offset), count);
        expect(data).toHaveLength(count);
        const written = new Uint8Array(byteLength(type, count));
        encodeTensorData(type, data, written);
        const expected = bytes.subarray(0, byteLength(type, count));
        if (type.endsWith("FLOAT16")) expect(withoutNaN(written)).toEqual(withoutNaN(expected));
        else expect(written).toEqual(expected);
      }),
    );
  });

  it("views aligned elements and copies others", () => {
    const bytes = new Uint8Array(16);
    expect(decodeTensorData("TENSOR_FLOAT32", bytes.subarray(4), 3).buffer).toBe(bytes.buffer);
    expect(decodeTensorData("TENSOR_FLOAT32", bytes.subarray(2, 14), 3).buffer).not.toBe(bytes.buffer);
    expect(decodeTensorData("TENSOR_QUANT8_ASYMM", bytes.subarray(3), 3).buffer).toBe(bytes.buffer);
  });

  it("copies from any offset on request", () => {
    const bytes = Uint8Array.from({ length: 19 }, (_, index) => 7 * index);
    for (const type of types) {
      for (const [offset, count] of [
        [0, 2],
        [3, 1],
        [3, 2],
      ]) {
        const copy = copyTensorData(type, bytes, count, offset);
        expect(copy).toEqual(decodeTensorData(type, bytes.slice(offset), count));
        expect(copy.buffer).not.toBe(bytes.buffer);
      }
    }
  });

  it("holds every type in the array that createData allocates", () => {
    for (const type of types) {
      expect(decodeTensorData(type, new Uint8Array(8), 1).constructor).toBe(createData(type, 1).constructor);
    }
  });

  it("reads little-endian numbers", () => {
    expect([...decodeTensorData("TENSOR_INT32", Uint8Array.of(1, 2, 0, 0x80), 1)]).toEqual([-0x7ffffdff]);
    expect([...decodeTensorData("TENSOR_FLOAT16", Uint8Array.of(0x00, 0xc1), 1)]).toEqual([-2.5]);
  });
});

/** Half floats whose NaNs all have the same bits: which NaN it was is not kept. */
function withoutNaN(bytes: Uint8Array): number[] {
  return Array.from({ length: bytes.length / 2 }, (_, index) => {
    const half = bytes[2 * index] | (bytes[2 * index + 1] << 8);
    return (half & 0x7fff) > 0x7c00 ? 0x7e00 : half;
  });
}
