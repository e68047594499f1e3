import { describe, expect, it } from "vitest";
import { typeText } from "../operand-type.ts";
import type { GivenInput } from "./_run.tflite.test-helper.ts";
import { realTypes } from "./_types.tflite.ts";
import { list, resultOf, tensorOf, upTo } from "./_values.tflite.test-helper.ts";

type Type = (typeof realTypes)[number];

async function dilate(type: Type, shape: readonly number[], by: readonly number[], value: GivenInput) {
  const values = upTo(shape).map((place) => (type === "TENSOR_BOOL8" ? place % 2 : place + 1));
  const [dimensions, elements] = await resultOf("DILATE", [tensorOf(type, shape, values), list(...by), value]);
  return { shape: dimensions, values: elements };
}

const one = tensorOf("TENSOR_FLOAT32", [1], [9]);

describe("DILATE", () => {
  it.each(realTypes.map((type) => [typeText(type), type] as const))("of %s", async (_, type) => {
    const isBool = type === "TENSOR_BOOL8";
    const [a, b, c, d] = isBool ? [0, 1, 0, 1] : [1, 2, 3, 4];
    const p = isBool ? 1 : 9;
    expect(await dilate(type, [2, 2], [2, 3], tensorOf(type, [1], [p]))).toEqual({
      shape: [3, 4],
      values: [...[a, p, p, b], ...[p, p, p, p], ...[c, p, p, d]],
    });
  });

  it.each<[readonly number[], readonly number[], readonly number[]]>([
    [[3], [1], [1, 2, 3]],
    [[3], [2], [1, 9, 2, 9, 3]],
    [
      [2, 2],
      [2, 1],
      [1, 2, 9, 9, 3, 4],
    ],
    [
      [2, 1, 2],
      [1, 5, 2],
      [1, 9, 2, 3, 9, 4],
    ],
  ])("of %j by %j", async (shape, by, values) => {
    expect((await dilate("TENSOR_FLOAT32", shape, by, one)).values).toEqual(values);
  });

  it.each<[string, () => Promise<unknown>, string]>([
    [
      "too few factors",
      () => dilate("TENSOR_FLOAT32", [2, 2], [2], one),
      "expected 2 dilations (one for each dimension), got 1",
    ],
    [
      "a factor of 0",
      () => dilate("TENSOR_FLOAT32", [2], [0], one),
      "the dilation of axis 0: expected at least 1, got 0",
    ],
    [
      "an axis without elements",
      () => dilate("TENSOR_FLOAT32", [2, 0], [1, 2], one),
      "axis 1 has no elements, and so cannot be dilated",
    ],
    [
      "two values",
      () => dilate("TENSOR_FLOAT32", [2], [2], tensorOf("TENSOR_FLOAT32", [2], [1, 2])),
      "the value: expected 1 element, got 2",
    ],
  ])("refuses %s", async (_, run, message) => {
    await expect(run()).rejects.toThrow(message);
  });
});
