import { describe, expect, it } from "vitest";
import { byteLengthOf, elementsIn, elementsOfReal, elementTypeOf, realValuesIn } from "./elements.ts";

const bytesOf = (array: ArrayBufferView) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

describe("elements", () => {
  it("knows types of the HAL by name", () => {
    expect(elementTypeOf("TENSOR_FLOAT32")).toBe("float32");
    expect(elementTypeOf("TENSOR_QUANT8_SYMM")).toBe("int8");
    expect(elementTypeOf("TENSOR_OEM_BYTE")).toBeUndefined();
    expect(byteLengthOf("float16", 3)).toBe(6);
    expect(byteLengthOf("complex64", 3)).toBe(24);
  });

  it("reads elements wherever they lie", () => {
    const memory = new Uint8Array(13);
    memory.set(bytesOf(Float32Array.of(1.5, -2)), 1);
    expect(elementsIn("float32", memory.subarray(1, 9))).toEqual(Float32Array.of(1.5, -2));
  });

  it.each([
    ["float32", undefined, Float32Array.of(1.5), Float32Array.of(1.5)],
    ["float16", undefined, Uint16Array.of(0x3e00), Float32Array.of(1.5)],
    ["uint8", { scale: 0.5, zeroPoint: 10 }, Uint8Array.of(13), Float32Array.of(1.5)],
    ["uint8", undefined, Uint8Array.of(13), Uint8Array.of(13)],
    ["uint8", { scale: 1, zeroPoint: 0 }, Uint8Array.of(13), Uint8Array.of(13)],
    ["int32", undefined, Int32Array.of(-7), Int32Array.of(-7)],
    ["int64", undefined, BigInt64Array.of(-7n), Float64Array.of(-7)],
    ["uint64", undefined, BigUint64Array.of(7n), Float64Array.of(7)],
    ["bool", undefined, Uint8Array.of(1), Uint8Array.of(1)],
  ] as const)("%s with %j: real values and back", (type, quantization, elements, real) => {
    expect(realValuesIn(type, quantization, bytesOf(elements))).toEqual(real);
    expect(elementsOfReal(type, quantization, real)).toEqual(elements);
  });

  it("quantises to nearest, ties away from zero, and saturates", () => {
    const quantization = { scale: 2, zeroPoint: 1 };
    expect(elementsOfReal("int8", quantization, [1, -1, 0.9, 1000, -1000, Number.POSITIVE_INFINITY])).toEqual(
      Int8Array.of(2, 0, 1, 127, -128, 127),
    );
    expect(() => elementsOfReal("int8", quantization, [Number.NaN])).toThrow("NaN has no quantised value");
  });

  it.each([
    ["uint8", 255, 256],
    ["uint8", 0, -1],
    ["int8", -128, -129],
    ["int32", 2 ** 31 - 1, 2 ** 31],
    ["int32", 1, 0.5],
    ["bool", 1, 2],
    ["int64", -(2n ** 63n), 2n ** 63n],
    ["uint64", 0n, -1n],
    ["int64", 1, 0.5],
  ] as const)("%s takes %s and refuses %s", (type, good, bad) => {
    expect(() => elementsOfReal(type, undefined, [good])).not.toThrow();
    expect(() => elementsOfReal(type, undefined, [bad])).toThrow(RangeError);
  });
});
