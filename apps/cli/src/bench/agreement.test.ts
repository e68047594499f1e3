import type { TensorDescription } from "@nnhal/tflite";
import { describe, expect, it } from "vitest";
import { agreementOf, worse } from "./agreement.ts";

const info = (changed: Partial<TensorDescription> = {}): TensorDescription => ({
  name: "y",
  tensorType: "FLOAT32",
  type: "TENSOR_FLOAT32",
  shape: [2],
  scale: 0,
  zeroPoint: 0,
  ...changed,
});
const quantised = info({ tensorType: "UINT8", type: "TENSOR_QUANT8_ASYMM", scale: 0.5, zeroPoint: 3 });
const floats = (...values: number[]) => new Uint8Array(Float32Array.from(values).buffer);

describe("agreementOf", () => {
  it("finds equal outputs in agreement", () => {
    expect(agreementOf([info()], [floats(1, 2)], [floats(1, 2)])).toEqual({
      agrees: true,
      difference: 0,
      allowed: 2e-4,
      unit: "absolute",
      reason: "",
    });
  });

  it("allows floats a share of the greatest value, and of 1 below that", () => {
    const against = (expected: number[], actual: number[]) =>
      agreementOf([info()], [floats(...expected)], [floats(...actual)]).agrees;
    expect(against([0, 100], [0.009, 100])).toBe(true);
    expect(against([0, 100], [0.011, 100])).toBe(false);
    expect(against([0, 0.01], [0.00009, 0.01])).toBe(true);
    expect(against([0, 0.01], [0.00011, 0.01])).toBe(false);
  });

  it("allows quantised elements three steps, and says which element is further away", () => {
    const against = (...actual: number[]) =>
      agreementOf([quantised], [Uint8Array.of(10, 20)], [Uint8Array.from(actual)]);
    expect(against(13, 20)).toMatchObject({ agrees: true, difference: 3, unit: "steps" });
    expect(against(10, 16)).toMatchObject({
      agrees: false,
      difference: 4,
      reason: 'element 1 of "y" (TENSOR_QUANT8_ASYMM [2]) is 16, 4 steps from 20; at most 3 is allowed',
    });
  });

  it("wants whole numbers to be equal", () => {
    const one = info({ tensorType: "INT32", type: "TENSOR_INT32", shape: [1] });
    const ints = (value: number) => new Uint8Array(Int32Array.of(value).buffer);
    expect(agreementOf([one], [ints(5)], [ints(5)]).agrees).toBe(true);
    expect(agreementOf([one], [ints(5)], [ints(6)]).agrees).toBe(false);
  });

  it("takes NaN and infinities only for themselves", () => {
    const against = (expected: number, actual: number) =>
      agreementOf([info({ shape: [1] })], [floats(expected)], [floats(actual)]).agrees;
    expect(against(Number.NaN, Number.NaN)).toBe(true);
    expect(against(Number.NaN, 0)).toBe(false);
    expect(against(0, Number.NaN)).toBe(false);
    expect(against(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)).toBe(true);
    expect(against(Number.POSITIVE_INFINITY, 1e30)).toBe(false);
    expect(against(1, Number.NEGATIVE_INFINITY)).toBe(false);
  });

  it("does not compare outputs of another number or size", () => {
    expect(agreementOf([info()], [floats(1, 2)], [])).toMatchObject({
      agrees: false,
      reason: expect.stringContaining("0 outputs"),
    });
    expect(agreementOf([info()], [floats(1, 2)], [floats(1)])).toMatchObject({
      agrees: false,
      reason: expect.stringContaining("has 4 bytes, and that of the reference 8"),
    });
  });

  it("reports the worst output", () => {
    const found = agreementOf(
      [info(), quantised],
      [floats(1, 2), Uint8Array.of(1, 1)],
      [floats(1, 2.0001), Uint8Array.of(9, 1)],
    );
    expect(found).toMatchObject({ unit: "steps", difference: 8, agrees: false });
  });
});

it("chooses the worse of two", () => {
  const good = agreementOf([info()], [floats(1, 2)], [floats(1, 2)]);
  const bad = agreementOf([info()], [floats(1, 2)], [floats(1, 3)]);
  expect(worse(good, bad)).toBe(bad);
  expect(worse(bad, good)).toBe(bad);
});
