import { createData, elementAt, elementCount, type OperandInfo } from "@nnhal/operations";
import type { OperandTypeName } from "@nnhal/types";
import { array, assert, constantFrom, integer, property } from "fast-check";
import { describe, expect, it } from "vitest";
import {
  BIAS_UNIT,
  divideBias,
  divideSums,
  greatestSum,
  MOST_WHOLE,
  needsDivision,
  type ProductOperands,
  whyIndivisible,
  whyTooManyAlong,
  whyTooManySummed,
} from "./products.ts";

const info = (
  type: OperandTypeName,
  dimensions: readonly number[],
  zeroPoint: number,
  elements?: readonly number[],
): OperandInfo => {
  const made = { type, dimensions, scale: 1, zeroPoint };
  if (elements === undefined) return made;
  const data = createData(type, elementCount(dimensions));
  data.set(elements);
  return { ...made, data };
};
const biasOf = (...elements: number[]) => info("TENSOR_INT32", [elements.length], 0, elements);
const byte = "TENSOR_QUANT8_ASYMM";

/** Units of weights with zero point 0, all at 255, and an input with the same quantisation. */
const atLimits = (products: number, units = 1): ProductOperands => ({
  input: info(byte, [1, products], 0),
  weights: info(byte, [units, products], 0, new Array<number>(units * products).fill(255)),
  axis: 0,
});

describe("greatestSum", () => {
  it("is that of the constant weights, on either side of 0", () => {
    const weights = info(byte, [2, 2], 100, [255, 90, 100, 0]);
    const input = info(byte, [1, 2], 55);
    // Below the limits of the types nothing is counted.
    expect(greatestSum({ input, weights, axis: 0 })).toBe(2 * 200 * 155);
    const wide = { input, weights: info(byte, [2, 3000], 100, [...few(3000, 130), ...few(3000, 90)]), axis: 0 };
    expect(greatestSum(wide)).toBe(3000 * 30 * 200);
    expect(greatestSum({ ...wide, input: info(byte, [1, 3000], 250) })).toBe(3000 * 30 * 250);
  });

  it("is that of the type if the weights are not constant", () => {
    const weights = info("TENSOR_QUANT8_ASYMM_SIGNED", [1, 1, 20, 3], 0);
    expect(greatestSum({ input: info(byte, [1, 1, 20, 3], 0), weights, axis: 3 })).toBe(20 * 128 * 255);
  });

  it("has a sum for each coordinate along the axis", () => {
    const weights = info(
      byte,
      [1, 300, 1, 2],
      0,
      Array.from({ length: 600 }, (_, place) => (place % 2 ? 255 : 1)),
    );
    expect(greatestSum({ input: info(byte, [1, 300, 1, 2], 0), weights, axis: 3 })).toBe(300 * 255 * 255);
  });
});

function few(count: number, value: number): number[] {
  return new Array<number>(count).fill(value);
}

describe("divideSums", () => {
  it("divides nothing up to 2^24, with the bias on the same side", () => {
    const operands = atLimits(258);
    const room = MOST_WHOLE - 258 * 255 * 255;
    expect(divideSums(operands, biasOf(room))).toBeUndefined();
    expect(divideSums(operands, biasOf(-MOST_WHOLE))).toBeUndefined();
    expect(divideSums(operands, biasOf(room + 1))).toBeDefined();
    expect(divideSums(operands, biasOf(-MOST_WHOLE - 1))).toBeDefined();
  });

  it("divides the bias only, if the products are within 2^24", () => {
    expect(divideSums(atLimits(100, 2), biasOf(0, 2 ** 30))).toEqual({ digits: undefined, dividesBias: true });
    expect(divideSums(atLimits(100), info("TENSOR_INT32", [1], 0))).toEqual({ digits: undefined, dividesBias: true });
    expect(needsDivision(atLimits(100), biasOf(5))).toBe(false);
    expect(needsDivision(atLimits(100), biasOf(MOST_WHOLE))).toBe(true);
  });

  it.each([
    [259, 16, 2],
    [3900, 16, 2],
    [8192, 8, 3],
    [20_000, 4, 5],
    [30_000, 2, 9],
  ])("takes the fewest digits for %i products of any weights", (products, base, places) => {
    const { input, weights } = atLimits(products);
    const variable = { input, weights: info(byte, weights.dimensions, 0), axis: 0 };
    expect(divideSums(variable, biasOf(0))?.digits).toMatchObject({ base, places });
  });

  it("refuses sums for which no digits suffice", () => {
    const variable = { input: info(byte, [1, 40_000], 0), weights: info(byte, [1, 40_000], 0), axis: 0 };
    expect(() => divideSums(variable, biasOf(0))).toThrow("sums of 40000 products of 8 bits");
    expect(whyIndivisible(variable, biasOf(0))).toContain("sums of 40000 products of 8 bits");
    expect(whyIndivisible(atLimits(40_000), biasOf(0))).toBeUndefined();
  });

  it("makes digits whose sums are exact and combine to that of the weights", () => {
    const element = integer({ min: 0, max: 255 });
    const count = constantFrom(300, 2000, 9000);
    assert(
      property(count, element, element, array(element, { minLength: 5, maxLength: 40 }), (products, zero, x, some) => {
        const elements = Array.from({ length: products }, (_, place) => elementAt(some, place % some.length));
        const weights = info(byte, [1, products], zero, elements);
        const { digits } = divideSums({ input: info(byte, [1, products], 0), weights, axis: 0 }, biasOf(0)) ?? {};
        if (digits?.constants === undefined) return;
        const { base, constants } = digits;
        for (let place = 0; place < products; place++) {
          const whole = constants.reduce((sum, each, at) => sum + elementAt(each, place) * base ** at, 0);
          expect(whole).toBe(elementAt(elements, place) - zero);
        }
        for (const each of constants) {
          const most = each.reduce((sum, digit) => sum + Math.abs(digit) * x, 0);
          expect(most).toBeLessThanOrEqual(2 * MOST_WHOLE);
          expect(Math.max(...positiveAndNegative(each, x))).toBeLessThanOrEqual(MOST_WHOLE);
        }
      }),
      { numRuns: 25 },
    );
  });
});

function positiveAndNegative(digits: Float32Array, x: number): number[] {
  return [1, -1].map((sign) => digits.reduce((sum, digit) => sum + Math.max(0, sign * digit) * x, 0));
}

describe("whyTooManyAlong", () => {
  const image = { ...info(byte, [1, 257, 256, 3], 0) };
  const axes = (...elements: number[]) => info("TENSOR_INT32", [elements.length], 0, elements);

  it("counts the elements along the axes that are known, each once", () => {
    expect(whyTooManyAlong(image, axes(1, 2))).toBeUndefined();
    expect(whyTooManyAlong({ ...image, dimensions: [1, 257, 257, 3] }, axes(1, -2))).toContain(
      "a mean of 66049 elements",
    );
    expect(whyTooManyAlong(image, axes(1, 3, -3))).toBeUndefined();
    expect(whyTooManyAlong(image, axes(1, 2, 3))).toContain("only of at most 65793");
    expect(whyTooManyAlong({ ...image, dimensions: [] }, axes(1, 2, 3))).toBeUndefined();
    expect(whyTooManyAlong(image, info("TENSOR_INT32", [3], 0))).toBeUndefined();
  });

  it("has bounds on both sides", () => {
    expect(whyTooManySummed(65_793)).toBeUndefined();
    expect(whyTooManySummed(65_794)).toContain("a mean of 65794 elements of 8 bits");
    expect(whyTooManySummed(Number.NaN)).toBeUndefined();
  });
});

describe("divideBias", () => {
  it("makes two numbers that float32 has, of which one is small", () => {
    assert(
      property(integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), (bias) => {
        const { high, low } = divideBias([bias]);
        expect(elementAt(high, 0) + elementAt(low, 0)).toBe(bias);
        expect(elementAt(high, 0) % BIAS_UNIT).toBeCloseTo(0);
        expect(Math.abs(elementAt(low, 0))).toBeLessThanOrEqual(BIAS_UNIT / 2);
      }),
    );
  });
});
