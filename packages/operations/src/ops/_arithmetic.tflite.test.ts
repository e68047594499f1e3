import { describe, expect, it } from "vitest";
import { int32 } from "./_run.tflite.test-helper.ts";
import {
  elements,
  giveTensor,
  greatestDifference,
  of,
  quantise,
  shape,
  spread,
} from "./_tensors.tflite.test-helper.ts";

const [none, relu, relu1, relu6] = [0, 1, 2, 3].map(int32);
const most = 2n ** 63n - 1n;

describe("ADD, SUB, MUL and DIV", () => {
  it("compute 64-bit integers, which wrap before the activation applies", async () => {
    const [a, b] = [giveTensor(of("int64"), [most, -5, 3]), giveTensor(of("int64"), [1, 2, 4])];
    expect(await elements("ADD", [a, b, none], of("int64"))).toEqual([-(2n ** 63n), -3n, 7n]);
    expect(await elements("SUB", [b, a, none], of("int64"))).toEqual([1n - most, 7n, 1n]);
    expect(await elements("MUL", [a, giveTensor(of("int64"), [2, 2, 4]), none], of("int64"))).toEqual([-2n, -10n, 12n]);
    expect(await elements("ADD", [a, b, relu], of("int64"))).toEqual([0n, 0n, 7n]);
    expect(await elements("ADD", [a, b, relu1], of("int64"))).toEqual([-1n, -1n, 1n]);
    expect(await elements("ADD", [a, b, relu6], of("int64"))).toEqual([0n, 0n, 6n]);
  });

  it("compute 16-bit integers without quantisation: sums and products wrap, differences are clamped, quotients rounded", async () => {
    const [a, b] = [giveTensor(of("int16"), [32767, -5, 300]), giveTensor(of("int16"), [2, 2, 300])];
    expect(await elements("ADD", [a, b, none], of("int16"))).toEqual([-32767, -3, 600]);
    expect(await elements("ADD", [a, b, relu6], of("int16"))).toEqual([0, 0, 6]);
    expect(await elements("MUL", [a, b, none], of("int16"))).toEqual([-2, -10, 24464]);
    expect(await elements("SUB", [a, giveTensor(of("int16"), [-1, 2, 300]), none], of("int16"))).toEqual([
      32767, -7, 0,
    ]);
    expect(await elements("DIV", [a, b, none], of("int16"))).toEqual([16384, -3, 1]);
  });

  it("clamp 8-bit integers without quantisation", async () => {
    const [a, b] = [giveTensor(of("uint8"), [200, 1]), giveTensor(of("uint8"), [100, 2])];
    expect(await elements("ADD", [a, b, none], of("uint8"))).toEqual([255, 3]);
    expect(await elements("MUL", [a, b, none], of("uint8"))).toEqual([255, 2]);
  });

  it.each([
    ["ADD", (a: number, b: number) => a + b],
    ["SUB", (a: number, b: number) => a - b],
    ["MUL", (a: number, b: number) => a * b],
    ["DIV", (a: number, b: number) => a / b],
  ] as const)("%s of quantised elements: the real result, rounded once", async (name, compute) => {
    for (const [type, zeroPoints] of [
      ["int16", [0, 0, 0]],
      ["int8", [5, -3, 7]],
      ["uint8", [3, 130, 9]],
    ] as const) {
      const fine = type === "int16" ? 1 / 256 : 1;
      const [left, right] = [of(type, 0.03 * fine, zeroPoints[0]), of(type, 0.02 * fine, zeroPoints[1])];
      const output = of(type, name === "MUL" ? 0.1 : 0.05 * fine, zeroPoints[2]);
      const range = { int16: [-32768, 32767], int8: [-128, 127], uint8: [0, 255] } as const;
      const [least, greatest] = range[type];
      const a = spread(least, greatest, 50);
      const b = spread(greatest, least, 50).map((value) => (value === zeroPoints[1] ? value + 1 : value));
      const real = (value: number, { scale = 1, zeroPoint = 0 }) => (value - zeroPoint) * scale;
      expect(await elements(name, [giveTensor(left, a), giveTensor(right, b), none], output)).toEqual(
        a.map((value, index) => quantise(compute(real(value, left), real(b[index], right)), output)),
      );
    }
  });

  it("apply activations to quantised elements", async () => {
    const a = giveTensor(of("int16", 0.5), [-20, 4, 30]);
    expect(await elements("ADD", [a, giveTensor(of("int16", 0.5), [0]), relu6], of("int16", 0.25))).toEqual([0, 8, 24]);
  });

  it("multiply 16-bit elements into 8-bit ones", async () => {
    const [a, b] = [giveTensor(of("int16", 0.5), [10, -6]), giveTensor(of("int16", 0.25), [8, 4])];
    expect(await elements("MUL", [a, b, none], of("uint8", 1, 100))).toEqual([110, 97]);
    expect(await elements("MUL", [a, b, none], of("int8", 0.1, 0))).toEqual([100, -30]);
  });

  it("multiply unsigned integers and complex numbers", async () => {
    const unsigned = giveTensor(of("uint32"), [2 ** 32 - 1, 65536]);
    expect(await elements("MUL", [unsigned, giveTensor(of("uint32"), [2, 65536]), none], of("uint32"))).toEqual([
      2 ** 32 - 2,
      0,
    ]);
    const complex = giveTensor(of("complex64"), [1, 2, 3, -4], [2, 1]);
    const others = giveTensor(of("complex64"), [0, 1, 2, 0], [2]);
    expect(await elements("MUL", [complex, others, none], of("complex64"))).toEqual([-2, 1, 2, 4, 4, 3, 6, -8]);
    await expect(elements("MUL", [complex, others, relu], of("complex64"))).rejects.toThrow(
      "activation 1 is given where complex numbers allow only NONE 0",
    );
  });

  it("broadcast more than 4 axes", async () => {
    const a = giveTensor(of("float32"), [1, 2, 3, 4], [2, 1, 1, 1, 2]);
    const b = giveTensor(of("float32"), [10, 20], [2, 1]);
    expect(await elements("ADD", [a, b, none], of("float32"))).toEqual([11, 12, 21, 22, 13, 14, 23, 24]);
    expect(await shape("ADD", [a, b, none], of("float32"))).toEqual([2, 1, 1, 2, 2]);
  });

  it("divide integers toward 0", async () => {
    const [a, b] = [giveTensor(of("int32"), [-7, 7, -1]), giveTensor(of("int32"), [2, -2, 5])];
    expect(await elements("DIV", [a, b, none], of("int32"))).toEqual([-3, -3, 0]);
    expect(await elements("DIV", [a, b, relu], of("int32"))).toEqual([0, 0, 0]);
  });

  it("refuse a divisor of 0, except of floats", async () => {
    const one = giveTensor(of("int32"), [1, 1]);
    await expect(elements("DIV", [one, giveTensor(of("int32"), [1, 0]), none], of("int32"))).rejects.toThrow(
      "element 1 of the divisor is 0",
    );
    const quantised = giveTensor(of("int8", 0.5, 3), [1, 3]);
    await expect(elements("DIV", [quantised, quantised, none], of("int8"))).rejects.toThrow(
      "element 1 of the divisor is 0",
    );
    const zero = giveTensor(of("float32"), [0]);
    expect(await elements("DIV", [giveTensor(of("float32"), [1]), zero, none], of("float32"))).toEqual([
      Number.POSITIVE_INFINITY,
    ]);
  });

  it("refuse an unknown activation, shapes that do not broadcast and types that differ", async () => {
    const [a, b] = [giveTensor(of("int64"), [1, 2]), giveTensor(of("int64"), [1, 2, 3])];
    await expect(elements("ADD", [a, a, int32(4)], of("int64"))).rejects.toThrow("activation 4 is none of");
    await expect(elements("ADD", [a, b, none], of("int64"))).rejects.toThrow("shapes 2 and 3 do not broadcast");
    await expect(elements("ADD", [a, giveTensor(of("int32"), [1, 2]), none], of("int64"))).rejects.toThrow(
      "expected nnhal.tflite TENSOR_INT64, got",
    );
  });

  it("compute long tensors in parts", async () => {
    const values = Array.from({ length: 70_000 }, (_, index) => index % 1000);
    const a = giveTensor(of("int16", 0.5), values);
    const results = await elements("ADD", [a, a, none], of("int16", 0.5));
    expect(
      greatestDifference(
        results,
        values.map((value) => 2 * value),
      ),
    ).toBe(0);
  });
});
