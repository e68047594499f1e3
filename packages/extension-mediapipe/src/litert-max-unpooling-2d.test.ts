import { describe, expect, test } from "vitest";
import { runOne, struct } from "./_run.test-helper.ts";

const [SAME, VALID] = [1, 2];

/** Of the shape, elements that count from 1. */
function unpool(shape: readonly number[], indices: readonly number[], options: readonly number[], of = shape) {
  const count = shape.reduce((product, extent) => product * extent, 1);
  const x = { shape, data: Array.from({ length: count }, (_, at) => at + 1) };
  // LiteRT stores more than the options: what its kernel computes.
  const operator = { customCode: "LiteRtMaxUnpooling2D", options: struct(...options, 0, 0, 0, 0, 0) };
  return runOne(operator, x, [{ type: "INT32", shape: of, data: indices }]);
}

/** Elements at places, among zeros. */
const placed = (size: number, places: Readonly<Record<number, number>>) =>
  Array.from({ length: size }, (_, at) => places[at] ?? 0);

describe("LiteRtMaxUnpooling2D", () => {
  test("puts elements at their places of the result, as LiteRT does", async () => {
    const result = await unpool([1, 1, 2, 1], [1, 6], [SAME, 2, 2, 2, 2]);
    expect(result).toEqual({ shape: [1, 2, 4, 1], data: placed(8, { 1: 1, 6: 2 }) });
  });

  test("has the size that the stride and the window give it, with each padding", async () => {
    // Strides of width 3 and height 2, windows of width 2 and height 2.
    const places = Array<number>(32).fill(0);
    expect((await unpool([2, 2, 4, 2], places, [SAME, 3, 2, 2, 2])).shape).toEqual([2, 4, 12, 2]);
    expect((await unpool([2, 2, 4, 2], places, [VALID, 3, 2, 2, 2])).shape).toEqual([2, 4, 11, 2]);
    expect((await unpool([1, 2, 2, 1], [6, 9, 16, 19], [VALID, 2, 2, 3, 2])).data).toEqual(
      placed(20, { 6: 1, 9: 2, 16: 3, 19: 4 }),
    );
  });

  test("counts places within a batch, channels included; of equal places the last counts", async () => {
    const { shape, data } = await unpool([2, 1, 1, 2], [3, 3, 0, 7], [SAME, 2, 2, 2, 2]);
    expect([shape, data]).toEqual([[2, 2, 2, 2], placed(16, { 3: 2, 8: 3, 15: 4 })]);
  });

  test("ignores a place outside of the image", async () => {
    const { data } = await unpool([2, 1, 1, 1], [-1, 4], [SAME, 2, 2, 2, 2]);
    expect(data).toEqual(placed(8, {}));
  });

  test.each([
    ["indices of another shape", [1, 2, 1, 1], [SAME, 2, 2, 2, 2], "the indices have the shape [1,2,1,1]"],
    ["a stride of 0", [1, 1, 2, 1], [SAME, 0, 2, 2, 2], "stride_width: expected at least 1, got 0"],
    ["a padding that is neither", [1, 1, 2, 1], [0, 2, 2, 2, 2], "expected 1 (SAME) or 2 (VALID), got 0"],
  ])("refuses %s", async (_, of, options, message) => {
    await expect(unpool([1, 1, 2, 1], [0, 0], options, of)).rejects.toThrow(message);
  });
});
