import { describe, expect, it } from "vitest";
import { multiplyByQuantisedMultiplier, quantiseMultiplier } from "../fixed-point.ts";
import { float32 } from "./_run.tflite.test-helper.ts";
import { elements, giveTensor, of, quantise, shape, spread } from "./_tensors.tflite.test-helper.ts";

/** Elements of each sign, evenly spaced over the type. */
const every = { int16: spread(-32768, 32767, 101), int8: spread(-128, 127, 101), uint8: spread(0, 255, 101) };

/** Applies a function of real numbers to quantised elements. */
function computeExpected(
  values: readonly number[],
  { scale = 1, zeroPoint = 0 }: ReturnType<typeof of>,
  output: ReturnType<typeof of>,
  compute: (value: number) => number,
): number[] {
  return values.map((value) => quantise(compute((value - zeroPoint) * scale), output));
}

describe("functions of floats and integers", () => {
  const numbers = giveTensor(of("float32"), [-2.5, -1.5, -0.5, 0.5, 1.5, 2.25]);

  it("round down, up and to the nearest, of more than 4 axes too", async () => {
    expect(await elements("FLOOR", [numbers], of("float32"))).toEqual([-3, -2, -1, 0, 1, 2]);
    expect(await elements("CEIL", [numbers], of("float32"))).toEqual([-2, -1, -0, 1, 2, 3]);
    expect((await elements("ROUND", [numbers], of("float32"))).map((value) => Number(value) + 0)).toEqual([
      -2, -2, 0, 0, 2, 2,
    ]);
    const deep = giveTensor(of("float32"), [1.5, -1.5], [1, 1, 2, 1, 1, 1]);
    expect(await shape("FLOOR", [deep], of("float32"))).toEqual([1, 1, 2, 1, 1, 1]);
  });

  it("compute SQUARE, COS and SIGN", async () => {
    expect(await elements("SQUARE", [numbers], of("float32"))).toEqual([6.25, 2.25, 0.25, 0.25, 2.25, 5.0625]);
    const [cosine] = await elements("COS", [numbers], of("float32"));
    expect(cosine).toBeCloseTo(Math.cos(-2.5), 6);
    const signs = giveTensor(of("float32"), [-3, -0, 0, 4, Number.NaN]);
    expect(await elements("SIGN", [signs], of("float32"))).toEqual([-1, 0, 0, 1, Number.NaN]);
    expect(await elements("SIGN", [giveTensor(of("float64"), [-1e300, 1e-300])], of("float64"))).toEqual([-1, 1]);
    expect(await elements("SIGN", [giveTensor(of("int32"), [-7, 0, 7])], of("int32"))).toEqual([-1, 0, 1]);
  });

  it("negate integers, of which the least stays as it is", async () => {
    expect(await elements("NEG", [giveTensor(of("int64"), [5, -(2n ** 63n)])], of("int64"))).toEqual([
      -5n,
      -(2n ** 63n),
    ]);
    expect(await elements("NEG", [giveTensor(of("int8", 0.5, 3), [5, -128])], of("int8", 0.5, 3))).toEqual([-5, -128]);
    expect(await elements("NEG", [giveTensor(of("int16"), [5, -32768])], of("int16"))).toEqual([-5, -32768]);
  });

  it("refuse types that the operator lacks", async () => {
    await expect(elements("CEIL", [giveTensor(of("int32"), [1])], of("int32"))).rejects.toThrow(
      "CEIL: input 0 (input): expected TENSOR_FLOAT32, got TENSOR_INT32",
    );
    await expect(elements("NEG", [giveTensor(of("uint8"), [1])], of("uint8"))).rejects.toThrow(
      "NEG: input 0 (input): expected TENSOR_QUANT8_ASYMM_SIGNED, got TENSOR_QUANT8_ASYMM",
    );
  });
});

describe("functions of quantised elements", () => {
  it("compute ABS with two quantisations; without, 16-bit integers wrap", async () => {
    const [input, output] = [of("int8", 0.03, 5), of("int8", 0.02, -100)];
    expect(await elements("ABS", [giveTensor(input, every.int8)], output)).toEqual(
      computeExpected(every.int8, input, output, Math.abs),
    );
    expect(await elements("ABS", [giveTensor(of("int16"), [-32768, -3])], of("int16"))).toEqual([-32768, 3]);
    expect(await elements("ABS", [giveTensor(of("int16", 0.5), [-32768])], of("int16", 0.5))).toEqual([32767]);
  });

  it.each([
    ["RELU", 0, Number.POSITIVE_INFINITY],
    ["RELU6", 0, 6],
    ["RELU1", -1, 1],
    ["RELU_0_TO_1", 0, 1],
  ] as const)("%s clamps to [%d, %d] and requantises", async (name, least, greatest) => {
    for (const type of name.endsWith("1") ? (["int8", "uint8"] as const) : (["int8", "uint8", "int16"] as const)) {
      const isShort = type === "int16";
      const [input, output] = [
        of(type, isShort ? 1e-3 : 0.07, isShort ? 0 : 12),
        of(type, isShort ? 7e-4 : 0.03, isShort ? 0 : 4),
      ];
      expect(await elements(name, [giveTensor(input, every[type])], output)).toEqual(
        computeExpected(every[type], input, output, (value) => Math.min(Math.max(value, least), greatest)),
      );
    }
    const floats = giveTensor(of("float32"), [-3, -0.5, 0.5, 7]);
    expect(await elements(name, [floats], of("float32"))).toEqual(
      [-3, -0.5, 0.5, 7].map((value) => Math.min(Math.max(value, least), greatest)),
    );
  });

  it("LEAKY_RELU scales negative elements", async () => {
    for (const type of ["int8", "uint8", "int16"] as const) {
      const [input, output] = [of(type, 0.25, type === "int16" ? 0 : 100), of(type, 0.5, type === "int16" ? 0 : 20)];
      expect(await elements("LEAKY_RELU", [giveTensor(input, every[type]), float32(0.125)], output)).toEqual(
        computeExpected(every[type], input, output, (value) => (value > 0 ? value : 0.125 * value)),
      );
    }
    const floats = giveTensor(of("float32"), [-2, 0, 2]);
    expect(await elements("LEAKY_RELU", [floats, float32(0.5)], of("float32"))).toEqual([-1, 0, 2]);
  });

  it("PRELU of 16-bit elements has factors of 8 bits, and reads the bytes of those of 16 bits so", async () => {
    const input = giveTensor(of("int16", 0.5), [-8, 8, -3, 3], [2, 2]);
    const alpha = giveTensor(of("int8", 0.25, 2), [4, 10]);
    // Factors 0.5 and 2: -4 · 0.5, 4, -1.5 · 0.5, 1.5.
    expect(await elements("PRELU", [input, alpha], of("int16", 0.25))).toEqual([-8, 16, -3, 6]);
    // The bytes 2 and 8.
    const wide = giveTensor(of("int16", 0.25), [2 + 256 * 8, -1]);
    expect(await elements("PRELU", [input, wide], of("int16", 0.25))).toEqual([-8, 16, -3, 6]);
    const bytes = giveTensor(of("uint8"), [1, 2]);
    await expect(elements("PRELU", [input, bytes], of("int16"))).rejects.toThrow("PRELU: input 1");
  });

  it("PRELU of 16-bit elements rounds twice, as .tflite's multipliers do, and clamps", async () => {
    // 856 and 2043 times 7/15 are 399.47 and 953.4: 798.9 and 1906.8 are rounded, then their halves.
    const input = giveTensor(of("int16", 0.0007), [856, 2043, 6913, -16740], [4]);
    const alpha = giveTensor(of("int8", 0.06), [-128], [1]);
    expect(await elements("PRELU", [input, alpha], of("int16", 0.0015))).toEqual([400, 954, 3226, 32767]);
  });

  it("ELU computes exp(x) - 1 of negative elements", async () => {
    const [input, output] = [of("int8", 0.031, 12), of("int8", 0.0211, 3)];
    expect(await elements("ELU", [giveTensor(input, every.int8), float32(1)], output)).toEqual(
      computeExpected(every.int8, input, output, (value) => (value < 0 ? Math.expm1(value) : value)),
    );
  });

  it("ELU computes in numbers of 32 bits, and halves go to the even element", async () => {
    // In 32 bits 87 · (2 / 255) / (12 / 255) is 14.5, and 3 and 9 sixths are a little more than 0.5 and 1.5.
    const input = giveTensor(of("int8", Math.fround(2 / 255)), [87, 3, 9]);
    expect(await elements("ELU", [input, float32(1)], of("int8", Math.fround(12 / 255)))).toEqual([14, 1, 2]);
  });

  it.each(["ABS", "RELU", "LEAKY_RELU"] as const)(
    "%s of 16-bit elements multiplies in integers, by a ratio of 32 bits",
    async (name) => {
      const input = giveTensor(of("int16", 0.0007), [856, 2043, 6913]);
      const operands = name === "LEAKY_RELU" ? [input, float32(0.5)] : [input];
      // 856 and 2043 times 7/15 are 399.47 and 953.4: 798.9 and 1906.8 are rounded, then their halves.
      expect(await elements(name, operands, of("int16", 0.0015))).toEqual([400, 954, 3226]);
      const scales = [Math.fround(3 / 32767), Math.fround(5.3 / 32767)] as const;
      const ratio = Math.fround(scales[0] / scales[1]);
      const others = Array.from({ length: 1000 }, (_, place) => 32 * place);
      expect(
        await elements(
          name,
          [giveTensor(of("int16", scales[0]), others), ...operands.slice(1)],
          of("int16", scales[1]),
        ),
      ).toEqual(others.map((element) => multiplyByQuantisedMultiplier(element, quantiseMultiplier(ratio))));
    },
  );

  it("SQRT truncates, RSQRT rounds; neither accepts negative numbers", async () => {
    const input = giveTensor(of("int8", 0.5, -10), [-10, -8, -2, 8]);
    // √0, √1, √4, √9 in steps of 0.4.
    expect(await elements("SQRT", [input], of("int8", 0.4, 1))).toEqual([1, 3, 6, 8]);
    expect(await elements("RSQRT", [input], of("int8", 0.125, 0))).toEqual([127, 8, 4, 3]);
    const negative = giveTensor(of("int8", 0.5, -10), [-11]);
    for (const name of ["SQRT", "RSQRT"]) {
      await expect(elements(name, [negative], of("int8"))).rejects.toThrow(
        "element 0 of the input is -11, less than the zero point -10",
      );
    }
  });
});
