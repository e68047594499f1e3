import { describe, expect, it } from "vitest";
import type { NumericInfo } from "./tensor-info.ts";
import { encodeValue, type PlainValue } from "./values.ts";

const info = (type: NumericInfo["type"], shape: readonly number[], more: Partial<NumericInfo> = {}): NumericInfo => ({
  name: "x",
  otherNames: [],
  type,
  shape,
  ...more,
});
const floats = info("float32", [1, 2, 2]);
const quantised = info("uint8", [2], { quantization: { scale: 0.5, zeroPoint: 10 } });
const encode = (value: unknown, of: NumericInfo = floats) => encodeValue(value as PlainValue, of, "the input");
const numbers = (value: unknown, of: NumericInfo = floats) => {
  const { bytes } = encode(value, of);
  return [...new Float32Array(bytes.slice().buffer)];
};

describe("encodeValue", () => {
  it("takes arrays, lists and tensors of real numbers", () => {
    const one = [1, 2, 3, 4];
    for (const value of [
      Float32Array.from(one),
      Float64Array.from(one),
      one,
      [[one.slice(0, 2), one.slice(2)]],
      [one.slice(0, 2), one.slice(2)],
      { data: Float32Array.from(one), shape: [2, 2] },
      { data: one, shape: [1, 1, 2, 2] },
      { data: [one.slice(0, 2), one.slice(2)] },
    ]) {
      expect(numbers(value)).toEqual(one);
      expect(encode(value).shape).toEqual([1, 2, 2]);
    }
    expect(numbers(5, info("float32", [1]))).toEqual([5]);
    expect([...encode([true, false], info("bool", [2])).bytes]).toEqual([1, 0]);
    expect([...encode(true, info("bool", [1, 1])).bytes]).toEqual([1]);
    expect(encode([1n, 2], info("int64", [2])).bytes).toEqual(new Uint8Array(BigInt64Array.of(1n, 2n).buffer));
  });

  it("does not copy an array of the tensor's own type", () => {
    const given = Float32Array.of(0, 1, 2, 3, 4).subarray(1);
    expect(encode(given).bytes.buffer).toBe(given.buffer);
  });

  it("quantises real numbers, and takes elements as they are", () => {
    expect([...encode([1.5, -100], quantised).bytes]).toEqual([13, 0]);
    expect([...encode(Float32Array.of(1.5, 100), quantised).bytes]).toEqual([13, 210]);
    expect([...encode(Uint8Array.of(1, 2), quantised).bytes]).toEqual([1, 2]);
    expect([...encode(Uint8ClampedArray.of(1, 2), quantised).bytes]).toEqual([1, 2]);
  });

  it.each([
    [floats, new Int32Array(4), "it is a Int32Array, which is not converted"],
    [floats, new Uint8Array(16), "it is a Uint8Array, which is not converted"],
    [floats, new DataView(new ArrayBuffer(16)), "it is a DataView, which is not converted"],
    [quantised, new Int8Array(2), "it is a Int8Array, which is not converted"],
    [info("int32", [2]), new Float32Array(2), "takes numbers, lists of numbers, or a Int32Array; it is a Float32Array"],
    [info("int32", [2]), new Uint32Array(2), "Uint32Array"],
    [info("int64", [2]), new Float64Array(2), "Float64Array"],
    [
      info("float16", [2]),
      new Int16Array(2),
      "Float32Array, Float64Array of real values, or a Uint16Array of its bits",
    ],
    [floats, new ArrayBuffer(16), "it is an object of the class ArrayBuffer"],
    [floats, "1", "it is a string"],
    [floats, undefined, "it is undefined"],
    [floats, Promise.resolve(1), "it is a promise, which must be awaited"],
    [floats, [1, "2", 3, 4], "its list has a string among its numbers"],
  ])("refuses a wrong type: %j, %s", (of, value, message) => {
    expect(() => encode(value, of)).toThrow(expect.objectContaining({ code: "WRONG_TYPE" }));
    expect(() => encode(value, of)).toThrow(message);
  });

  it.each([
    [new Float32Array(3), "WRONG_SIZE", 'the input "x" (float32 [1, 2, 2]) has 4 elements; 3 were given'],
    [5, "WRONG_SIZE", "has 4 elements; 1 were given"],
    [[], "WRONG_SIZE", "0 were given"],
    [{ data: new Float32Array(4), shape: [2, 3] }, "WRONG_SIZE", "its shape [2, 3] has 6 elements, its data 4"],
    [{ data: new Float32Array(4), shape: [4, 1] }, "WRONG_SHAPE", "was given a value of the shape [4, 1]"],
    [[[1], [2], [3], [4]], "WRONG_SHAPE", "was given a value of the shape [4, 1]"],
    [[[1, 2], [3]], "WRONG_SHAPE", "one of 2 items is beside one of 1"],
    [[[1, 2], 3], "WRONG_SHAPE", "its lists are not equally deep"],
    [
      [
        [1, 2],
        [[3], [4]],
      ],
      "WRONG_SHAPE",
      "its lists are not equally deep",
    ],
  ])("refuses %j: %s", (value, code, message) => {
    expect(() => encode(value)).toThrow(expect.objectContaining({ code }));
    expect(() => encode(value)).toThrow(message);
  });

  it("refuses lists that contain themselves", () => {
    const list: unknown[] = [];
    list.push(list);
    expect(() => encode(list)).toThrow("more than 32 deep");
  });

  it("names a value that the type cannot hold", () => {
    expect(() => encode([1, 2.5], info("int32", [2]))).toThrow(expect.objectContaining({ code: "WRONG_VALUE" }));
    expect(() => encode([1, 2.5], info("int32", [2]))).toThrow(
      'the input "x" (int32 [2]): expected an integer from -2147483648 to 2147483647, got 2.5',
    );
  });

  it("determines one open extent from the number of elements, several from a shape", () => {
    const open = info("float32", [0, 2]);
    expect(encode([1, 2, 3, 4, 5, 6], open).shape).toEqual([3, 2]);
    expect(encode([[1, 2]], open).shape).toEqual([1, 2]);
    expect(encode([], open).shape).toEqual([0, 2]);
    expect(() => encode([1, 2, 3], open)).toThrow("has a multiple of 2 elements; 3 were given");
    const more = info("float32", [0, 0]);
    expect(encode([[1, 2, 3]], more).shape).toEqual([1, 3]);
    expect(() => encode(new Float32Array(6), more)).toThrow(expect.objectContaining({ code: "WRONG_SHAPE" }));
    expect(encode({ data: new Float32Array(6), shape: [2, 3] }, info("float32", [])).shape).toEqual([2, 3]);
  });
});
