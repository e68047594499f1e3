import { describe, expect, it } from "vitest";
import { elements, giveTensor, of, quantise, shape, spread } from "./_tensors.tflite.test-helper.ts";

describe("FLOOR_DIV and FLOOR_MOD", () => {
  it.each(["int32", "int16", "int8"] as const)("of %s, without quantisation", async (type) => {
    const [a, b] = [giveTensor(of(type), [7, -7, 7, -7, 6]), giveTensor(of(type), [2, 2, -2, -2, 3])];
    expect(await elements("FLOOR_DIV", [a, b], of(type))).toEqual([3, -4, -4, 3, 2]);
    expect((await elements("FLOOR_MOD", [a, b], of(type))).map((value) => Number(value) + 0)).toEqual([
      1, 1, -1, -1, 0,
    ]);
  });

  it("of floats and 64-bit integers", async () => {
    const [a, b] = [giveTensor(of("float32"), [7.5, -7.5]), giveTensor(of("float32"), [2, 2])];
    expect(await elements("FLOOR_DIV", [a, b], of("float32"))).toEqual([3, -4]);
    expect(await elements("FLOOR_MOD", [a, b], of("float32"))).toEqual([1.5, 0.5]);
    const longs = [
      giveTensor(of("int64"), [2n ** 62n + 5n, -7, 7, -6]),
      giveTensor(of("int64"), [2n ** 62n, 2, -2, 3]),
    ];
    expect(await elements("FLOOR_MOD", longs, of("int64"))).toEqual([5n, 1n, -1n, 0n]);
  });

  it("refuse a divisor of 0; the rest of floats is NaN", async () => {
    for (const [name, type] of [
      ["FLOOR_DIV", "int32"],
      ["FLOOR_DIV", "float32"],
      ["FLOOR_MOD", "int16"],
      ["FLOOR_MOD", "int64"],
    ] as const) {
      const zeros = giveTensor(of(type), [1, 0]);
      await expect(elements(name, [zeros, zeros], of(type))).rejects.toThrow("element 1 of the divisor is 0");
    }
    const zero = giveTensor(of("float32"), [0]);
    expect(await elements("FLOOR_MOD", [zero, zero], of("float32"))).toEqual([Number.NaN]);
  });
});

describe("MAXIMUM and MINIMUM", () => {
  it("of 64-bit and 16-bit integers that broadcast", async () => {
    const a = giveTensor(of("int64"), [2n ** 60n, 2n ** 60n + 1n, -3, 4], [2, 2]);
    const b = giveTensor(of("int64"), [2n ** 60n + 1n, 0], [2]);
    expect(await elements("MAXIMUM", [a, b], of("int64"))).toEqual([
      2n ** 60n + 1n,
      2n ** 60n + 1n,
      2n ** 60n + 1n,
      4n,
    ]);
    expect(await elements("MINIMUM", [a, b], of("int64"))).toEqual([2n ** 60n, 0n, -3n, 0n]);
    const shorts = [giveTensor(of("int16", 0.5), [-3, 4]), giveTensor(of("int16", 0.5), [2])];
    expect(await elements("MAXIMUM", shorts, of("int16", 0.5))).toEqual([2, 4]);
    expect(await elements("MINIMUM", shorts, of("int16", 0.5))).toEqual([-3, 2]);
  });
});

describe("POW", () => {
  it("of integers wraps", async () => {
    const [a, b] = [giveTensor(of("int32"), [3, -2, 7, 0, 2]), giveTensor(of("int32"), [5, 3, 0, 0, 33])];
    expect(await elements("POW", [a, b], of("int32"))).toEqual([243, -8, 1, 1, 0]);
  });

  it("refuses negative exponents", async () => {
    const exponents = giveTensor(of("int32"), [0, -1]);
    await expect(elements("POW", [exponents, exponents], of("int32"))).rejects.toThrow(
      "element 1 of the exponent is -1, less than 0",
    );
  });
});

describe("SQUARED_DIFFERENCE", () => {
  it("of floats, integers that wrap, and quantised elements", async () => {
    const floats = [giveTensor(of("float32"), [1.5, 2]), giveTensor(of("float32"), [-1])];
    expect(await elements("SQUARED_DIFFERENCE", floats, of("float32"))).toEqual([6.25, 9]);
    const integers = [giveTensor(of("int32"), [65536, 3]), giveTensor(of("int32"), [0, 5])];
    expect(await elements("SQUARED_DIFFERENCE", integers, of("int32"))).toEqual([0, 4]);
    const [left, right, output] = [of("int8", 0.25, 5), of("int8", 0.5, -3), of("int8", 4, -100)];
    const values = spread(-128, 127, 60);
    expect(await elements("SQUARED_DIFFERENCE", [giveTensor(left, values), giveTensor(right, [7])], output)).toEqual(
      values.map((value) => quantise(((value - 5) * 0.25 - 5) ** 2, output)),
    );
  });
});

describe("BITWISE_XOR and RIGHT_SHIFT", () => {
  it.each([
    ["int8", [0b1010, -1], [0b0110, 1], [0b1100, -2]],
    ["uint8", [0xf0, 255], [0xff, 1], [0x0f, 254]],
    ["int16", [0x7fff, -1], [1, 0x7fff], [0x7ffe, -32768]],
    ["uint16", [0xffff, 1], [1, 3], [0xfffe, 2]],
    ["int32", [-1, 5], [0, 1], [-1, 4]],
    ["uint32", [0xffff_ffff, 0x8000_0000], [1, 0x8000_0000], [0xffff_fffe, 0]],
  ] as const)("%s: differing bits", async (type, a, b, result) => {
    expect(await elements("BITWISE_XOR", [giveTensor(of(type), a), giveTensor(of(type), b)], of(type))).toEqual(result);
  });

  it.each([
    ["int8", [-128, 127, -128, 64], [7, 1, 100, -5], [-1, 63, -1, 64]],
    ["uint8", [255, 128, 255, 7], [4, 7, 8, 0], [15, 1, 1, 7]],
    ["uint16", [65535], [16], [1]],
    ["int32", [-5, 2 ** 30], [1, 31], [-3, 0]],
    ["uint32", [2 ** 32 - 1, 2 ** 31], [1, 40], [2 ** 31 - 1, 1]],
  ] as const)("%s: shifts keep the sign, and distances are bounded", async (type, a, b, result) => {
    expect(await elements("RIGHT_SHIFT", [giveTensor(of(type), a), giveTensor(of(type), b)], of(type))).toEqual(result);
  });
});

describe("ATAN2", () => {
  it("is the angle of a point", async () => {
    for (const type of ["float32", "float64"] as const) {
      const results = await elements(
        "ATAN2",
        [giveTensor(of(type), [1, -1, 0]), giveTensor(of(type), [1, -1, -1])],
        of(type),
      );
      [Math.PI / 4, (-3 * Math.PI) / 4, Math.PI].forEach((angle, index) => {
        expect(results[index]).toBeCloseTo(angle, 6);
      });
    }
  });

  it("refuses shapes that differ", async () => {
    const [y, x] = [giveTensor(of("float32"), [1, 2]), giveTensor(of("float32"), [1])];
    await expect(elements("ATAN2", [y, x], of("float32"))).rejects.toThrow("the shape of x: expected 2, got 1");
  });
});

describe("ADD_N", () => {
  it("adds tensors; integers wrap", async () => {
    const floats = [1, 2, 3].map((value) => giveTensor(of("float32"), [value, 10 * value]));
    expect(await elements("ADD_N", floats, of("float32"))).toEqual([6, 60]);
    const integers = [2 ** 31 - 1, 1].map((value) => giveTensor(of("int32"), [value]));
    expect(await elements("ADD_N", integers, of("int32"))).toEqual([-(2 ** 31)]);
    expect(await shape("ADD_N", [giveTensor(of("int32"), [1, 2], [1, 2])], of("int32"))).toEqual([1, 2]);
  });

  it("refuses shapes that differ", async () => {
    const inputs = [giveTensor(of("int32"), [1, 2]), giveTensor(of("int32"), [1])];
    await expect(elements("ADD_N", inputs, of("int32"))).rejects.toThrow("the shape of input 1: expected 2, got 1");
  });
});
