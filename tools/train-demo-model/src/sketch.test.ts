import { describe, expect, it } from "vitest";
import { GLYPHS } from "./glyphs.ts";
import { shrink } from "./input.ts";
import { brightness, chooseLook, LOOK_NAMES, MINIMUM_CONTRAST } from "./look.ts";
import { createRandom } from "./random.ts";
import { type Picture, render, type Sketch, sketchDigit } from "./sketch.ts";

const colourAt = ({ width, data }: Picture, x: number, y: number): [number, number, number] => {
  const at = (y * width + x) * 3;
  return [data[at], data[at + 1], data[at + 2]];
};

/** The sketch without anything that varies between neighbouring pixels. */
const plain = (sketch: Sketch): Sketch => ({
  ...sketch,
  look: { ...sketch.look, inkGrain: 0, sheetGrain: 0, noise: 0, rules: undefined, light: { strength: 0, angle: 0 } },
});

const meanDifference = (a: Picture, b: Picture): number =>
  a.data.reduce((sum, value, index) => sum + Math.abs(value - b.data[index]), 0) / a.data.length;

describe("sketchDigit and render", () => {
  it("draws the same picture for the same seed, and another for every other seed", () => {
    const draw = (seed: number) => render(sketchDigit(createRandom(seed), 4), 32).data;
    const pictures = new Set<string>();
    for (let seed = 0; seed < 50; seed++) {
      expect(draw(seed)).toEqual(draw(seed));
      pictures.add(draw(seed).join());
    }
    expect(pictures.size).toBe(50);
  });

  it("uses every variant of every digit and every look", () => {
    const random = createRandom(3);
    const sheets = new Set<string>();
    for (let index = 0; index < 400; index++) sheets.add(sketchDigit(random, index % 10).look.sheet.join());
    // All the papers, boards and notes, and many free mixtures.
    expect(sheets.size).toBeGreaterThan(50);
    for (const [digit, variants] of GLYPHS.entries()) {
      const lengths = new Set<number>();
      for (let index = 0; index < 40; index++) lengths.add(sketchDigit(random, digit).capsules.length);
      expect(lengths.size).toBe(
        new Set(variants.map((glyph) => glyph.reduce((sum, stroke) => sum + stroke.length - 1, 0))).size,
      );
    }
  });

  it("places, slants and scales the digit differently each time", () => {
    const random = createRandom(4);
    const boxes = Array.from({ length: 60 }, () => {
      const xs = sketchDigit(random, 8).capsules.flatMap(({ x0, x1 }) => [x0, x1]);
      return { left: Math.min(...xs), width: Math.max(...xs) - Math.min(...xs) };
    });
    const spread = (values: number[]): number => Math.max(...values) - Math.min(...values);
    expect(spread(boxes.map(({ left }) => left))).toBeGreaterThan(0.2);
    expect(spread(boxes.map(({ width }) => width))).toBeGreaterThan(0.2);
  });

  it("has ink in the colour of the ink where the pen went, and sheet where it did not", () => {
    const random = createRandom(5);
    for (let index = 0; index < 60; index++) {
      const sketch = plain(sketchDigit(random, index % 10, LOOK_NAMES[index % LOOK_NAMES.length]));
      const picture = render({ ...sketch, look: { ...sketch.look, softness: 0.005 } }, 128);
      const { x0, y0 } = sketch.capsules[Math.floor(sketch.capsules.length / 2)];
      const inside = x0 >= 0 && x0 < 1 && y0 >= 0 && y0 < 1;
      if (inside) expect(colourAt(picture, Math.floor(x0 * 128), Math.floor(y0 * 128))).toEqual([...sketch.look.ink]);
      const isSheet = (x: number, y: number): boolean => colourAt(picture, x, y).join() === sketch.look.sheet.join();
      let sheetPixels = 0;
      for (let y = 0; y < 128; y++) for (let x = 0; x < 128; x++) sheetPixels += Number(isSheet(x, y));
      expect(sheetPixels / 128 ** 2).toBeGreaterThan(0.55);
      expect(sheetPixels / 128 ** 2).toBeLessThan(0.99);
    }
  });

  it("keeps nearly all ink inside the picture", () => {
    const random = createRandom(6);
    const capsules = Array.from({ length: 500 }, (_, index) => sketchDigit(random, index % 10).capsules).flat();
    const outside = capsules.filter(({ x1, y1 }) => x1 < 0 || x1 > 1 || y1 < 0 || y1 > 1);
    expect(outside.length / capsules.length).toBeLessThan(0.005);
  });

  it("looks the same drawn small as drawn large and shrunk", () => {
    const random = createRandom(7);
    for (let index = 0; index < 30; index++) {
      const sketch = plain(sketchDigit(random, index % 10));
      const soft = { ...sketch, look: { ...sketch.look, softness: 0.03 } };
      const small = render(soft, 32);
      expect(meanDifference(small, shrink(render(soft, 160), 32))).toBeLessThan(2);
      expect(meanDifference(small, render(plain(sketchDigit(random, (index + 1) % 10)), 32))).toBeGreaterThan(4);
    }
  });
});

describe("chooseLook", () => {
  it.each(LOOK_NAMES)("%s: ink stands out from the sheet", (name) => {
    const random = createRandom(8);
    for (let index = 0; index < 200; index++) {
      const { sheet, ink } = chooseLook(random, name);
      expect(Math.abs(brightness(sheet) - brightness(ink))).toBeGreaterThanOrEqual(MINIMUM_CONTRAST);
    }
  });
});
