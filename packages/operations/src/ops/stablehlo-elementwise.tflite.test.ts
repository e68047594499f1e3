import { describe, expect, it } from "vitest";
import { typeText } from "../operand-type.ts";
import type { GivenInput } from "./_run.tflite.test-helper.ts";
import { stablehloTypes } from "./_types.tflite.ts";
import { bools, dataOf, floats, ints, longs, resultOf, tensorOf } from "./_values.tflite.test-helper.ts";

const square = (...values: readonly number[]) => ints([2, 2], values);

describe("the operators of StableHLO of two tensors", () => {
  // The examples of StableHLO's specification.
  it.each([
    ["STABLEHLO_ADD", square(1, 2, 3, 4), square(5, 6, 7, 8), [6, 8, 10, 12]],
    ["STABLEHLO_AND", square(1, 2, 3, 4), square(5, 6, 7, 8), [1, 2, 3, 0]],
    ["STABLEHLO_AND", bools([2, 2], [0, 0, 1, 1]), bools([2, 2], [0, 1, 0, 1]), [0, 0, 0, 1]],
    ["STABLEHLO_MULTIPLY", square(1, 2, 3, 4), square(5, 6, 7, 8), [5, 12, 21, 32]],
    ["STABLEHLO_MAXIMUM", square(1, 2, 7, 8), square(5, 6, 3, 4), [5, 6, 7, 8]],
    ["STABLEHLO_MINIMUM", square(1, 2, 7, 8), square(5, 6, 3, 4), [1, 2, 3, 4]],
    ["STABLEHLO_SHIFT_LEFT", ints([3], [-1, 0, 1]), ints([3], [1, 2, 3]), [-2, 0, 8]],
  ])("%s (%#)", async (name, lhs, rhs, result) => {
    expect((await resultOf(name, [lhs, rhs]))[1]).toEqual(result);
  });

  it.each(stablehloTypes.map((type) => [typeText(type), type] as const))("compute %s", async (_, type) => {
    const [lhs, rhs] = [tensorOf(type, [2], [3, 6]), tensorOf(type, [2], [5, 2])];
    expect((await resultOf("STABLEHLO_ADD", [lhs, rhs]))[1]).toEqual([8, 8]);
    expect((await resultOf("STABLEHLO_MULTIPLY", [lhs, rhs]))[1]).toEqual([15, 12]);
    expect((await resultOf("STABLEHLO_MAXIMUM", [lhs, rhs]))[1]).toEqual([5, 6]);
    expect((await resultOf("STABLEHLO_MINIMUM", [lhs, rhs]))[1]).toEqual([3, 2]);
  });

  it("take no account of scales, and wrap", async () => {
    const type = "TENSOR_QUANT8_ASYMM_SIGNED";
    const of = (scale: number, zeroPoint: number, ...values: readonly number[]): GivenInput => ({
      ...{ type, dimensions: [values.length], scale, zeroPoint },
      data: dataOf(type, values),
    });
    const inputs = [of(0.5, 3, 127, -128, 100), of(0.25, 0, 1, -1, 3)];
    const like = { scale: 0.5, zeroPoint: 3 };
    expect((await resultOf("STABLEHLO_ADD", inputs, undefined, like))[1]).toEqual([-128, 127, 103]);
    expect((await resultOf("STABLEHLO_MULTIPLY", inputs, undefined, like))[1]).toEqual([127, -128, 44]);
  });

  it("wrap 32 and 64 bits", async () => {
    const [a, b] = [ints([2], [2 ** 31 - 1, -(2 ** 31)]), ints([2], [2 ** 31 - 1, -1])];
    expect((await resultOf("STABLEHLO_ADD", [a, b]))[1]).toEqual([-2, 2 ** 31 - 1]);
    expect((await resultOf("STABLEHLO_MULTIPLY", [a, b]))[1]).toEqual([1, -(2 ** 31)]);
    const [c, d] = [longs([1], [2 ** 62]), longs([1], [4])];
    expect((await resultOf("STABLEHLO_MULTIPLY", [c, d]))[1]).toEqual([0]);
    expect((await resultOf("STABLEHLO_AND", [c, c]))[1]).toEqual([2 ** 62]);
  });

  it("add and multiply floats", async () => {
    expect((await resultOf("STABLEHLO_ADD", [floats([2], [0.5, -1]), floats([2], [0.25, 3])]))[1]).toEqual([0.75, 2]);
  });

  it("shifts by less than 0, and by as many bits as there are, leave 0", async () => {
    const shift = async (bits: number, type: "TENSOR_INT32" | "TENSOR_QUANT8_ASYMM_SIGNED") =>
      (await resultOf("STABLEHLO_SHIFT_LEFT", [tensorOf(type, [1], [3]), tensorOf(type, [1], [bits])]))[1];
    expect(await shift(30, "TENSOR_INT32")).toEqual([-(2 ** 30)]);
    expect(await shift(31, "TENSOR_INT32")).toEqual([-(2 ** 31)]);
    for (const bits of [-1, 32]) expect(await shift(bits, "TENSOR_INT32")).toEqual([0]);
    expect(await shift(7, "TENSOR_QUANT8_ASYMM_SIGNED")).toEqual([-128]);
    expect(await shift(8, "TENSOR_QUANT8_ASYMM_SIGNED")).toEqual([0]);
  });

  it("do not broadcast", async () => {
    await expect(resultOf("STABLEHLO_ADD", [ints([2]), ints([1])])).rejects.toThrow(
      "the shape of rhs: expected 2, got 1",
    );
  });
});
