import { describe, expect, it } from "vitest";
import { complementaryError } from "./_error-function.tflite.ts";
import { bool } from "./_run.tflite.test-helper.ts";
import { tableOf } from "./_table.tflite.ts";
import { elements, giveTensor, greatestDifference, of, quantise, spread } from "./_tensors.tflite.test-helper.ts";

const bytes = spread(-128, 127, 256);
const shorts = spread(-32768, 32767, 301);

function phi(x: number): number {
  return 0.5 * x * complementaryError(-x / Math.SQRT2);
}

describe("functions by a table", () => {
  it("interpolate between points 128 elements apart", () => {
    const quantisation = { scale: 1 / 4096, zeroPoint: 0 };
    const line = tableOf(quantisation, quantisation, (x) => x / 2);
    expect(
      greatestDifference(
        shorts.map(line),
        shorts.map((element) => element / 2),
      ),
    ).toBeLessThanOrEqual(1);
    const bend = tableOf(quantisation, quantisation, (x) => (x < 0.01 ? 0 : x));
    // 0.01 is element 41, between the points 0 and 128.
    expect(bend(0)).toBeLessThanOrEqual(0);
    // The points are 65535 / 512 elements apart, so that results near the greatest element differ by up to 1.
    expect(Math.abs(bend(256) - 256)).toBeLessThanOrEqual(1);
  });

  it("clamp points that the output cannot hold", () => {
    const table = tableOf({ scale: 1, zeroPoint: 0 }, { scale: 1, zeroPoint: 0 }, (x) => 4 * x);
    expect([table(-32768), table(32767)]).toEqual([-32768, 32767]);
  });

  it.each([
    ["exp", Math.exp],
    ["1 / x", (x: number) => 1 / Math.max(x, 0)],
  ])("%s stays within its range where results are too large or infinite", (_, real) => {
    const table = tableOf({ scale: 1 / 32, zeroPoint: 0 }, { scale: 1 / 4096, zeroPoint: 0 }, real);
    const findWanted = (element: number) => Math.min(real(element / 32) * 4096, 32767);
    const tooLarge = shorts.map((element) => element & ~127).filter((element) => findWanted(element) === 32767);
    expect(tooLarge.length).toBeGreaterThan(100);
    expect(new Set(tooLarge.map(table))).toEqual(new Set([32767]));
  });

  it.each([
    ["EXP", Math.exp, of("int8", 0.02, 0), of("int8", 0.06, -128), of("int16", 1 / 8192), of("int16", 60 / 32768)],
    [
      "LOG",
      (x: number) => (x <= 0 ? -1000 : Math.log(x)),
      of("int8", 0.02, -128),
      of("int8", 0.03, 70),
      undefined,
      undefined,
    ],
  ] as const)("%s: exact of 8-bit elements, near of 16-bit ones", async (name, compute, from8, to8, from16, to16) => {
    const real = (element: number, { scale = 1, zeroPoint = 0 }) => (element - zeroPoint) * scale;
    expect(await elements(name, [giveTensor(from8, bytes)], to8)).toEqual(
      bytes.map((element) => quantise(compute(real(element, from8)), to8)),
    );
    if (from16 === undefined || to16 === undefined) return;
    const results = await elements(name, [giveTensor(from16, shorts)], to16);
    const exact = shorts.map((element) => quantise(compute(real(element, from16)), to16));
    // The points are 65535 / 512 elements apart: the last ones lie up to 1 element beside, where the function rises by 3.6 steps.
    expect(greatestDifference(results, exact)).toBeLessThanOrEqual(4);
  });

  it("LOG of 16-bit numbers without a logarithm is the least element", async () => {
    const [zero, one] = await elements("LOG", [giveTensor(of("int16", 1 / 1024), [-512, 20480])], of("int16", 1e-3));
    expect(zero).toBe(-32768);
    expect(one).toBeCloseTo(Math.log(20) * 1000, -1);
  });

  it("RSQRT of 16-bit elements", async () => {
    const values = [0, 8192, 16384, 32767];
    const results = await elements("RSQRT", [giveTensor(of("int16", 1 / 8192), values)], of("int16", 1e-3));
    expect(results[0]).toBeGreaterThan(0);
    expect(greatestDifference(results.slice(1), [1000, 707, 500])).toBeLessThanOrEqual(1);
  });
});

describe("GELU", () => {
  it("is x times the normal distribution, or near to it", async () => {
    const floats = [-3, -1, -0.25, 0, 0.5, 2, 6];
    const exact = await elements("GELU", [giveTensor(of("float32"), floats), bool(false)], of("float32"));
    // Φ(-1) = 0.158655253931457, Φ(2) = 0.977249868051821.
    expect(exact[1]).toBeCloseTo(-0.158655253931457, 6);
    expect(exact[5]).toBeCloseTo(2 * 0.977249868051821, 6);
    const near = await elements("GELU", [giveTensor(of("float32"), floats), bool(true)], of("float32"));
    expect(near[1]).toBeCloseTo(-0.158808, 5);
    expect(greatestDifference(near, exact)).toBeLessThan(5e-4);
  });

  it("of quantised elements", async () => {
    for (const type of ["int8", "uint8"] as const) {
      const [input, output] = [of(type, 0.03, 60), of(type, 0.02, 20)];
      const values = type === "int8" ? bytes : bytes.map((value) => value + 128);
      expect(await elements("GELU", [giveTensor(input, values), bool(false)], output)).toEqual(
        values.map((value) => quantise(phi((value - 60) * 0.03), output)),
      );
    }
    const results = await elements("GELU", [giveTensor(of("int16", 2e-4), shorts), bool(false)], of("int16", 2e-4));
    expect(
      greatestDifference(
        results,
        shorts.map((value) => phi(value * 2e-4) / 2e-4),
      ),
    ).toBeLessThan(3);
  });
});

describe("LOGISTIC and TANH", () => {
  it.each([2 ** -12, 2 ** -11, 2 ** -13, 1e-4, 7e-4])("of 16-bit elements of scale %d", async (scale) => {
    for (const [name, compute] of [
      ["LOGISTIC", (x: number) => 1 / (1 + Math.exp(-x))],
      ["TANH", Math.tanh],
    ] as const) {
      const results = await elements(name, [giveTensor(of("int16", scale), shorts)], of("int16", 2 ** -15));
      const exact = shorts.map((value) => compute(value * scale) * 2 ** 15);
      // Fixed point of 16 bits is this far from the function.
      expect(greatestDifference(results, exact)).toBeLessThan(14);
    }
  });

  it("of 8-bit elements: exact", async () => {
    const [input, output] = [of("int8", 0.04, 3), of("int8", 2 ** -8, -128)];
    expect(await elements("LOGISTIC", [giveTensor(input, bytes)], output)).toEqual(
      bytes.map((value) => quantise(1 / (1 + Math.exp((3 - value) * 0.04)), output)),
    );
    expect(await elements("TANH", [giveTensor(input, bytes)], of("int8", 0.01, 4))).toEqual(
      bytes.map((value) => quantise(Math.tanh((value - 3) * 0.04), of("int8", 0.01, 4))),
    );
  });

  it("refuse another scale of a 16-bit result", async () => {
    const input = giveTensor(of("int16", 2 ** -12), [1]);
    expect(await elements("TANH", [input], of("int16", 2 ** -15 * 1.0005))).toHaveLength(1);
    await expect(elements("TANH", [input], of("int16", 2 ** -15 * 1.002))).rejects.toThrow(
      "expected 0.000030517578125, got",
    );
    await expect(elements("LOGISTIC", [input], of("int16", 2 ** -14))).rejects.toThrow(
      "the output's scale: expected 0.000030517578125, got 0.00006103515625",
    );
  });
});

describe("the complementary error function", () => {
  it("agrees with known values", () => {
    // Abramowitz and Stegun, table 7.1, and 7.3 for large x.
    for (const [x, erfc] of [
      [0, 1],
      [0.5, 0.4795001221869535],
      [1, 0.15729920705028513],
      [2, 0.004677734981047266],
      [3, 0.00002209049699858544],
      [5, 1.5374597944280349e-12],
    ]) {
      expect(complementaryError(x) / erfc).toBeCloseTo(1, 9);
      expect(complementaryError(-x)).toBeCloseTo(2 - erfc, 12);
    }
    expect(complementaryError(2.4999999999)).toBeCloseTo(complementaryError(2.5), 11);
    expect(complementaryError(Number.NaN)).toBeNaN();
    expect(complementaryError(Number.POSITIVE_INFINITY)).toBe(0);
  });
});
