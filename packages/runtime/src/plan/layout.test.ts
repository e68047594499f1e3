import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Lifetime, layOut } from "./layout.ts";

const life = (operand: number, size: number, first: number, last: number): Lifetime => ({ operand, size, first, last });

/** Pairs that are alive at the same time and lie on top of each other. */
function clashes(lifetimes: readonly Lifetime[], offsets: ReadonlyMap<number, number>): [Lifetime, Lifetime][] {
  return lifetimes.flatMap((a, index) =>
    lifetimes.slice(index + 1).flatMap((b): [Lifetime, Lifetime][] => {
      const [startA = -1, startB = -1] = [offsets.get(a.operand), offsets.get(b.operand)];
      const together = a.first <= b.last && b.first <= a.last;
      const overlap = startA < startB + b.size && startB < startA + a.size;
      return together && overlap ? [[a, b]] : [];
    }),
  );
}

describe("layOut", () => {
  it("is empty for no temporaries", () => {
    expect(layOut([])).toEqual({ size: 0, offsets: new Map(), lowerBound: 0 });
  });

  it("reuses a place when its temporary is read for the last time before", () => {
    const { offsets, size } = layOut([life(1, 64, 0, 1), life(2, 64, 2, 3)]);
    expect([offsets.get(1), offsets.get(2), size]).toEqual([0, 0, 64]);
  });

  it("keeps apart what one level reads and writes", () => {
    const { offsets, size } = layOut([life(1, 64, 0, 1), life(2, 64, 1, 2)]);
    expect([offsets.get(1), offsets.get(2), size]).toEqual([0, 64, 128]);
  });

  it("joins gaps", () => {
    const { size } = layOut([life(1, 32, 0, 0), life(2, 32, 0, 0), life(3, 64, 1, 1)]);
    expect(size).toBe(64);
  });

  it("never lays two that are alive together on top of each other, and aligns all", () => {
    const lifetimes = fc
      .array(fc.tuple(fc.nat(200), fc.nat(12), fc.nat(6)), { maxLength: 40 })
      .map((rows) => rows.map(([size, first, length], operand) => life(operand, size, first, first + length)));
    fc.assert(
      fc.property(lifetimes, (given) => {
        const { offsets, size, lowerBound } = layOut(given);
        expect(clashes(given, offsets)).toEqual([]);
        for (const { operand, size: bytes } of given) {
          const offset = offsets.get(operand) ?? -1;
          expect(offset % 16).toBe(0);
          expect(offset + bytes).toBeLessThanOrEqual(size);
        }
        expect(size).toBeGreaterThanOrEqual(lowerBound);
      }),
    );
  });

  it("needs no more than the lower bound if the order of time would leave gaps", () => {
    // As in a network for pictures: results grow, then shrink.
    const sizes = [128, 128, 256, 64, 128, 128, 128, 32];
    const { size, lowerBound, offsets } = layOut(sizes.map((bytes, index) => life(index, bytes, index, index + 1)));
    expect([size, lowerBound, offsets.size]).toEqual([384, 384, 8]);
  });

  it("needs no more than the lower bound for a chain of equals", () => {
    const chain = Array.from({ length: 100 }, (_, index) => life(index, 128, index, index + 1));
    const { size, lowerBound } = layOut(chain);
    expect([size, lowerBound]).toEqual([256, 256]);
  });
});
