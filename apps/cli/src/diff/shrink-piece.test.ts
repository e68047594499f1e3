import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { crop } from "./shrink-piece.ts";

describe("crop", () => {
  it("takes the beginning of each axis, whatever the size of an element", () => {
    const bytes = Uint8Array.from({ length: 24 }, (_, index) => index);
    expect([...crop(bytes, [2, 3, 4], [1, 2, 3])]).toEqual([0, 1, 2, 4, 5, 6]);
    expect([...crop(bytes, [2, 3, 2], [2, 1, 1])]).toEqual([0, 1, 12, 13]);
    expect([...crop(bytes, [24], [3])]).toEqual([0, 1, 2]);
    expect([...crop(bytes.subarray(0, 2), [], [])]).toEqual([0, 1]);
  });

  it("has the element of each index that is left", () => {
    const axis = fc
      .integer({ min: 1, max: 4 })
      .chain((extent) => fc.tuple(fc.constant(extent), fc.integer({ min: 1, max: extent })));
    fc.assert(
      fc.property(fc.array(axis, { minLength: 1, maxLength: 4 }), (axes) => {
        const [shape, smaller] = [axes.map(([extent]) => extent), axes.map(([, extent]) => extent)];
        const count = shape.reduce((product, extent) => product * extent, 1);
        // Each element holds its place in bits of the index.
        const whole = Uint16Array.from({ length: count }, (_, element) => {
          let [rest, code] = [element, 0];
          for (let place = shape.length - 1; place >= 0; place--) {
            const extent = shape[place] ?? 1;
            code += (rest % extent) * 4 ** place;
            rest = Math.floor(rest / extent);
          }
          return code;
        });
        const cut = crop(new Uint8Array(whole.buffer), shape, smaller);
        const left = [...new Uint16Array(cut.buffer)];
        expect(left.length).toBe(smaller.reduce((product, extent) => product * extent, 1));
        expect(new Set(left).size).toBe(left.length);
        for (const code of left)
          for (const [place, extent] of smaller.entries())
            expect(Math.floor(code / 4 ** place) % 4).toBeLessThan(extent);
      }),
      { numRuns: 50 },
    );
  });
});
