/** Requests that may compute together: strings only if their rows do not become much wider. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { batchKey, canJoin, divideOutputs, joinInputs, rowsOf } from "./batches.ts";
import type { Tensor } from "./tensors.ts";

/** `count` strings, one of which has `width` bytes. */
function strings(count: number, width: number): Tensor {
  const content = Array.from({ length: count }, (_, place) => new Uint8Array(place === 0 ? width : 0));
  return { name: "given", datatype: "BYTES", shape: [count, 1], content };
}

function numbers(count: number): Tensor {
  return { name: "given", datatype: "FP32", shape: [count, 1], content: new Float32Array(count) };
}

it("numbers are joined, whatever their size", () => {
  expect(canJoin([[numbers(1)], [numbers(100_000)]])).toBe(true);
});

it("strings are joined until their rows take more than twice the memory that they take apart, and 64 KiB", () => {
  // Rows have as many bytes as the longest string, and 4 of its length.
  const widest = (count: number) => {
    let [fits, wide] = [0, 2 ** 20];
    while (wide - fits > 1) {
      const middle = Math.floor((fits + wide) / 2);
      if (canJoin([[strings(1, middle)], [strings(count, 0)]])) fits = middle;
      else wide = middle;
    }
    return fits;
  };
  // (1 + count) * width <= 2 * (width + count * 4) + 65,536, with widths of 4 bytes and more.
  for (const count of [10, 1000]) {
    const width = widest(count);
    const bound = Math.floor((65_536 + 8 * count) / (count - 1));
    expect(Math.abs(width + 4 - bound)).toBeLessThanOrEqual(8);
  }
  expect(canJoin([[strings(100, 1000)], [strings(100, 1000)]])).toBe(true);
});

it("each input counts for itself", () => {
  const [wide, many] = [strings(1, 100_000), strings(100, 0)];
  expect(
    canJoin([
      [wide, wide],
      [many, many],
    ]),
  ).toBe(false);
  expect(
    canJoin([
      [numbers(1), wide],
      [numbers(100), many],
    ]),
  ).toBe(false);
  expect(
    canJoin([
      [numbers(1), many],
      [numbers(100), many],
    ]),
  ).toBe(true);
});

it("what is joined is divided again, for any rows", () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.float({ noNaN: true }), { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 5 }),
      (requests) => {
        const tensors = requests.map((values): readonly Tensor[] => [
          { ...numbers(values.length), content: Float32Array.from(values) },
        ]);
        expect(new Set(tensors.map(batchKey)).size).toBe(1);
        const parts = divideOutputs(
          joinInputs(tensors),
          tensors.map((inputs) => rowsOf(inputs) ?? 0),
        );
        expect(parts?.map(([part]) => part?.content)).toEqual(tensors.map(([tensor]) => tensor?.content));
      },
    ),
  );
});
