import fc from "fast-check";
import { expect, it } from "vitest";
import { type Greatest, greatestOf } from "./_greatest.ts";

/** The result, and how often there was a pause. */
function run(computation: Generator<void, Greatest>): Greatest & { readonly pauses: number } {
  for (let pauses = 0; ; pauses++) {
    const { done, value } = computation.next();
    if (done) return { ...value, pauses };
  }
}

const element = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constantFrom(Number.NaN, Infinity, -Infinity, -0));

it("returns the k greatest elements of each row in order, of equal ones the larger index first, NaN last", () => {
  const rows = fc.tuple(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 0, max: 3 })).chain(([length, count]) =>
    fc.record({
      length: fc.constant(length),
      k: fc.integer({ min: 1, max: length }),
      elements: fc.array(element, { minLength: length * count, maxLength: length * count }),
    }),
  );
  const worth = (value: number) => (Number.isNaN(value) ? [0, 0] : [1, value + 0]);
  fc.assert(
    fc.property(rows, ({ length, k, elements }) => {
      const { values, places } = run(greatestOf(Float32Array.from(elements), length, k));
      const expected = [];
      for (let row = 0; row < elements.length; row += length) {
        const order = Array.from({ length }, (_, index) => index).sort((left, right) => {
          const [[isLeft, a], [isRight, b]] = [worth(elements[row + left]), worth(elements[row + right])];
          if (isLeft !== isRight) return isRight - isLeft;
          return a < b ? 1 : a > b ? -1 : right - left;
        });
        expected.push(...order.slice(0, k));
      }
      expect([...places]).toEqual(expected);
      expect([...values]).toEqual(
        [...places].map((place, index) => Math.fround(elements[Math.floor(index / k) * length + place])),
      );
    }),
  );
});

it("pauses in proportion to its work, and not at all if that is small", () => {
  const sortAscending = (length: number) => Float32Array.from({ length }, (_, index) => index);
  expect(run(greatestOf(sortAscending(1000), 1000, 1000)).pauses).toBe(0);
  for (const [length, k] of [
    [1 << 18, 1],
    [1 << 18, 1 << 18],
    [8, 3],
  ]) {
    const { values, pauses } = run(greatestOf(sortAscending(1 << 18), length, k));
    expect(values[0]).toBe(length - 1);
    expect(pauses).toBeGreaterThanOrEqual(8);
  }
});
