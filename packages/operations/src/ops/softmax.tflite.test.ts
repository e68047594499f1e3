import { describe, expect, it } from "vitest";
import { float32, int32 } from "./_run.tflite.test-helper.ts";
import { elements, giveTensor, greatestDifference, of, quantise, spread } from "./_tensors.tflite.test-helper.ts";

const [one, last] = [float32(1), int32(-1)];

function shares(values: readonly number[], beta = 1): number[] {
  const greatest = Math.max(...values);
  const exponentials = values.map((value) => Math.exp(beta * (value - greatest)));
  const sum = exponentials.reduce((total, each) => total + each, 0);
  return exponentials.map((each) => each / sum);
}

describe("SOFTMAX", () => {
  it.each([0.0005, 0.00003, 0.01])("of 16-bit elements of scale %d", async (scale) => {
    const values = spread(-20000, 20000, 16);
    const results = await elements(
      "SOFTMAX",
      [giveTensor(of("int16", scale), values), one, last],
      of("int16", 2 ** -15),
    );
    const exact = shares(values.map((value) => value * scale)).map((share) => Math.min(share * 2 ** 15, 32767));
    // The tables of exp and of the reciprocal differ from the functions by up to 0.001.
    expect(greatestDifference(results, exact)).toBeLessThan(33);
    expect(results.indexOf(Math.max(...results.map(Number)))).toBe(15);
  });

  it("of 8-bit elements with a 16-bit result", async () => {
    const values = spread(-128, 127, 12);
    const output = of("int16", 2 ** -15);
    const exact = shares(values.map((value) => (value - 4) * 0.05)).map((share) => quantise(share, output));
    expect(await elements("SOFTMAX", [giveTensor(of("int8", 0.05, 4), values), one, last], output)).toEqual(exact);
    const bytes = values.map((value) => value + 128);
    expect(await elements("SOFTMAX", [giveTensor(of("uint8", 0.05, 4), bytes), one, last], output)).toEqual(exact);
  });

  it("of more than 4 axes, along any of them", async () => {
    const input = giveTensor(of("float32"), [1, 2, 3, 5], [1, 2, 1, 2, 1]);
    const columns = await elements("SOFTMAX", [input, float32(2), int32(1)], of("float32"));
    const [a, c] = shares([1, 3], 2);
    const [b, d] = shares([2, 5], 2);
    expect(greatestDifference(columns, [a, b, c, d])).toBeLessThan(1e-6);
    const bytes = giveTensor(of("uint8", 1), [0, 0, 0, 3], [1, 2, 1, 2, 1]);
    expect(await elements("SOFTMAX", [bytes, one, int32(3)], of("uint8", 2 ** -8))).toEqual([128, 128, 12, 244]);
  });

  it("refuses an axis that is absent, beta of 0 and another scale of a 16-bit result", async () => {
    const input = giveTensor(of("int16", 0.1), [1, 2]);
    const output = of("int16", 2 ** -15);
    await expect(elements("SOFTMAX", [input, one, int32(1)], output)).rejects.toThrow("axis 1 is outside [-1, 1)");
    await expect(elements("SOFTMAX", [input, float32(0), last], output)).rejects.toThrow(
      "beta: expected a number > 0, got 0",
    );
    await expect(elements("SOFTMAX", [input, one, last], of("int16", 2 ** -14))).rejects.toThrow(
      "the output's scale: expected 0.000030517578125, got 0.00006103515625",
    );
  });
});

describe("LOG_SOFTMAX", () => {
  it.each([
    ["int8", 127],
    ["uint8", 255],
  ] as const)("of %s elements", async (type, zeroPoint) => {
    const values = [0, 10, 20, 90, 100, 120];
    const output = of(type, 1 / 16, zeroPoint);
    expect(await elements("LOG_SOFTMAX", [giveTensor(of(type, 0.05, 3), values), one, last], output)).toEqual(
      shares(values.map((value) => value * 0.05)).map((share) => quantise(Math.log(share), output)),
    );
  });

  it("refuses an axis that is absent and beta of 0", async () => {
    const input = giveTensor(of("int8", 0.1), [1, 2]);
    await expect(elements("LOG_SOFTMAX", [input, one, int32(-2)], of("int8"))).rejects.toThrow("axis -2 is outside");
    await expect(elements("LOG_SOFTMAX", [input, float32(0), last], of("int8"))).rejects.toThrow(
      "beta: expected a number > 0, got 0",
    );
  });
});
