import { describe, expect, it } from "vitest";
import { bool, int32 } from "./_run.tflite.test-helper.ts";
import { elements, giveTensor, of, quantise, shape } from "./_tensors.tflite.test-helper.ts";

const axes = (...list: number[]) => giveTensor(of("int32"), list);
const [keep, drop] = [bool(true), bool(false)];
const reductions = ["REDUCE_SUM", "REDUCE_PROD", "REDUCE_MAX", "REDUCE_MIN"];

describe("reductions", () => {
  it("of 64-bit integers", async () => {
    const input = giveTensor(of("int64"), [2n ** 62n, 2n ** 62n, 3, -5], [2, 2]);
    const run = (name: string) => elements(name, [input, axes(-1), drop], of("int64"));
    expect(await run("REDUCE_SUM")).toEqual([-(2n ** 63n), -2n]);
    expect(await run("REDUCE_PROD")).toEqual([0n, -15n]);
    expect(await run("REDUCE_MAX")).toEqual([2n ** 62n, 3n]);
    expect(await run("REDUCE_MIN")).toEqual([2n ** 62n, -5n]);
    expect(
      await elements("MEAN", [giveTensor(of("int64"), [-7, 4, 0, 1], [2, 2]), axes(1), int32(0)], of("int64")),
    ).toEqual([-1n, 0n]);
  });

  it("of 32-bit integers, which wrap; their mean is truncated", async () => {
    const input = giveTensor(of("int32"), [2 ** 31 - 1, 1, 65536, 65537], [2, 2]);
    expect(await elements("REDUCE_SUM", [input, axes(1), drop], of("int32"))).toEqual([-(2 ** 31), 131073]);
    expect(await elements("REDUCE_PROD", [input, axes(1), drop], of("int32"))).toEqual([2 ** 31 - 1, 65536]);
    expect(await elements("REDUCE_MAX", [input, axes(0), drop], of("int32"))).toEqual([2 ** 31 - 1, 65537]);
    expect(await elements("REDUCE_MIN", [input, axes(0), drop], of("int32"))).toEqual([65536, 1]);
    const means = giveTensor(of("int32"), [-3, -4, 5, 2], [2, 2]);
    expect(await elements("MEAN", [means, axes(1), int32(0)], of("int32"))).toEqual([-3, 3]);
  });

  it("of more than 4 axes, kept or not", async () => {
    const input = giveTensor(of("float32"), [1, 2, 3, 4, 5, 6, 7, 8], [2, 1, 2, 1, 2, 1]);
    expect(await elements("REDUCE_SUM", [input, axes(0, -2), drop], of("float32"))).toEqual([14, 22]);
    expect(await shape("REDUCE_SUM", [input, axes(0, -2), drop], of("float32"))).toEqual([1, 2, 1, 1]);
    expect(await shape("REDUCE_MAX", [input, axes(0, -2), keep], of("float32"))).toEqual([1, 1, 2, 1, 1, 1]);
    expect(await elements("REDUCE_PROD", [input, axes(0), drop], of("float32"))).toEqual([5, 12, 21, 32]);
    expect(await shape("MEAN", [input, axes(0, 1, 2, 3, 4, 5), int32(0)], of("float32"))).toEqual([1]);
    expect(await elements("MEAN", [input, axes(0, 1, 2, 3, 4, 5), int32(1)], of("float32"))).toEqual([4.5]);
    const bits = giveTensor(of("bool"), [1, 0, 1, 1], [1, 1, 2, 1, 2]);
    expect(await elements("REDUCE_ANY", [bits, axes(4), drop], of("bool"))).toEqual([1, 1]);
    expect(await elements("REDUCE_ALL", [bits, axes(4), drop], of("bool"))).toEqual([0, 1]);
  });

  it.each(["int8", "uint8", "int16"] as const)("of quantised %s: one rounding from exact sums", async (type) => {
    const zero = type === "int16" ? 0 : 7;
    const input = of(type, 0.1, zero);
    const values = [1, 2, 4, 90, 91, 92];
    const given6 = giveTensor(input, values, [2, 3]);
    const sums = [7 - 3 * zero, 273 - 3 * zero];
    const sumOutput = of(type, 0.25, zero);
    expect(await elements("REDUCE_SUM", [given6, axes(1), drop], sumOutput)).toEqual(
      sums.map((sum) => quantise(sum * 0.1, sumOutput)),
    );
    const meanOutput = of(type, 0.03, zero - (type === "int16" ? 0 : 3));
    expect(await elements("MEAN", [given6, axes(1), int32(0)], meanOutput)).toEqual(
      sums.map((sum) => quantise((sum / 3) * 0.1, meanOutput)),
    );
  });

  it("of quantised elements: extremes are taken as they are", async () => {
    for (const type of ["int8", "int16"] as const) {
      const input = giveTensor(of(type, 0.1), [-3, 100, 7], [1, 3]);
      expect(await elements("REDUCE_MAX", [input, axes(1), drop], of(type, 0.1))).toEqual([100]);
      expect(await elements("REDUCE_MIN", [input, axes(1), drop], of(type, 0.1))).toEqual([-3]);
    }
  });

  it("of quantised products: scaled after each factor; without quantisation 16-bit ones wrap", async () => {
    // 1.5 · -2 · 2.5 = -7.5
    const factors = giveTensor(of("int8", 0.5, 2), [5, -2, 7], [3]);
    expect(await elements("REDUCE_PROD", [factors, axes(0), drop], of("int8", 0.125, 3))).toEqual([-57]);
    expect(await elements("REDUCE_PROD", [factors, axes(0), drop], of("int8", 2 ** -6, 3))).toEqual([-128]);
    const shorts = giveTensor(of("int16"), [300, 300], [2]);
    expect(await elements("REDUCE_PROD", [shorts, axes(0), drop], of("int16"))).toEqual([90000 - 65536]);
    expect(
      await elements("REDUCE_PROD", [giveTensor(of("int16", 0.5), [6, 4]), axes(0), drop], of("int16", 0.25)),
    ).toEqual([24]);
  });

  it("refuse axes that the input lacks", async () => {
    const input = giveTensor(of("int32"), [1, 2], [1, 2]);
    for (const name of reductions) {
      expect(await elements(name, [input, axes(-2), drop], of("int32"))).toHaveLength(2);
      await expect(elements(name, [input, axes(2), drop], of("int32"))).rejects.toThrow("axis 2 is outside [-2, 2)");
      await expect(elements(name, [input, axes(-3), drop], of("int32"))).rejects.toThrow("axis -3 is outside [-2, 2)");
    }
  });
});
