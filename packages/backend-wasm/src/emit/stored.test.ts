import { describe, expect, it } from "vitest";
import { accumulator, convert, type Expression, element, makeInteger, on, real } from "../plan/expression.ts";
import type { ElementType } from "../plan/plan.ts";
import { storedValue } from "./stored.ts";

const zeroPoint = makeInteger(10);
const float = (largest?: number) => convert("toFloat", accumulator("i32", largest));
const rounded = (value: Expression) => on("add", convert("round", value), zeroPoint);
/** A float between two numbers, rounded, and moved by the zero point 10. */
const bounded = (value: Expression, least: number, greatest: number) =>
  rounded(on("min", on("max", value, real(least)), real(greatest)));
const stored = (value: Expression, type: ElementType = "u8", operands: readonly ElementType[] = []) =>
  storedValue(
    value,
    { type },
    operands.map((each) => ({ type: each })),
  );

describe("the value that a store needs", () => {
  const value = float(2 ** 21);

  it.each<[what: string, type: ElementType, bounds: [number, number]]>([
    ["bytes", "u8", [-10, 245]],
    ["bytes with a sign", "i8", [-138, 117]],
    ["16 bits", "u16", [-10, 65525]],
    ["16 bits with a sign", "i16", [-32778, 32757]],
  ])("has no bounds that are the range of its type: %s", (_, type, [least, greatest]) => {
    expect(stored(bounded(value, least, greatest), type)).toEqual(rounded(value));
    expect(stored(bounded(value, least + 1, greatest), type)).toEqual(rounded(on("max", value, real(least + 1))));
    expect(stored(bounded(value, least, greatest - 1), type)).toEqual(rounded(on("min", value, real(greatest - 1))));
    expect(stored(bounded(value, least + 1, greatest - 1), type)).toEqual(bounded(value, least + 1, greatest - 1));
  });

  it("has no bound either if there is only one", () => {
    expect(stored(rounded(on("max", value, real(-10))))).toEqual(rounded(value));
    expect(stored(rounded(on("min", value, real(245))))).toEqual(rounded(value));
  });

  it.each([
    ["the magnitude is not known", bounded(float(), -10, 245)],
    ["the magnitude is too great to be rounded", bounded(float(2 ** 21 + 1), -10, 245)],
    ["a factor is not known", bounded(on("mul", value, element(0, "f32")), -10, 245)],
    ["it is not rounded", on("min", on("max", value, real(-10)), real(245))],
    ["it is not moved", convert("round", on("max", value, real(-10)))],
    [
      "it is moved by what is not constant",
      on("add", convert("round", on("max", value, real(-10))), element(0, "i32")),
    ],
  ])("stays if %s", (_, kept) => {
    expect(stored(kept, "u8", ["f32"])).toBe(kept);
  });

  it("stays if the type holds all numbers", () => {
    expect(stored(bounded(value, -10, 245), "i32")).toEqual(bounded(value, -10, 245));
  });

  it("knows the magnitude of what is computed from elements of few bits", () => {
    const product = on("mul", convert("toFloat", on("sub", element(0, "i32"), element(1, "i32"))), real(-4096));
    // 255 + 128 and twice 255, 4096 times; the latter and one more are at both sides of 2^21.
    expect(stored(bounded(product, -10, 245), "u8", ["u8", "i8"])).toEqual(rounded(product));
    const most = on("mul", convert("toFloat", on("add", element(0, "i32"), makeInteger(257))), real(4096));
    expect(stored(bounded(most, -10, 245), "u8", ["u8"])).toEqual(rounded(most));
    const more = on("mul", convert("toFloat", on("add", element(0, "i32"), makeInteger(258))), real(4096));
    expect(stored(bounded(more, -10, 245), "u8", ["u8"])).toEqual(bounded(more, -10, 245));
  });

  it("visits a part once that many share", () => {
    let sum = float(2 ** -60);
    for (let time = 0; time < 60; time++) sum = on("add", sum, sum);
    expect(stored(bounded(sum, -10, 245)).args[0]?.args[0]).toBe(sum);
  });
});
