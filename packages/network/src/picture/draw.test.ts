import { describe, expect, it } from "vitest";
import { decodePicture } from "./decode.ts";
import { type Color, colorOf, colourOf, draw } from "./draw.ts";
import { encodePng } from "./encode-png.ts";
import { textWidth } from "./font.ts";
import type { Picture } from "./picture.ts";

const grey = (width: number, height: number): Picture => ({
  width,
  height,
  data: new Uint8Array(width * height * 3).fill(100),
});
const red = [255, 0, 0] as const;
/** One letter for a pixel: r for red, w for white, . for the grey of before, ? for others. */
function show({ width, height, data }: Picture): string[] {
  return Array.from({ length: height }, (_, y) =>
    Array.from({ length: width }, (_, x) => {
      const pixel = data.subarray((y * width + x) * 3, (y * width + x) * 3 + 3).join();
      return pixel === "255,0,0" ? "r" : pixel === "255,255,255" ? "w" : pixel === "100,100,100" ? "." : "?";
    }).join(""),
  );
}

describe("draw", () => {
  it("draws boxes on a copy, and cuts off what is outside", () => {
    const picture = grey(6, 5);
    const box = { left: 1, top: 1, right: 5, bottom: 4 };
    expect(show(draw(picture, { boxes: [{ box, color: red }] }))).toEqual([
      "......",
      ".rrrr.",
      ".r..r.",
      ".rrrr.",
      "......",
    ]);
    expect(show(picture).join("")).toBe(".".repeat(30));
    const outside = { left: -3, top: -2, right: 3, bottom: 99 };
    expect(show(draw(picture, { boxes: [{ box: outside, color: red }] }))).toEqual(Array(5).fill("..r..."));
  });

  it("writes labels and scores above boxes", () => {
    const box = { left: 0, top: 8, right: 20, bottom: 12 };
    const lines = show(draw(grey(20, 12), { boxes: [{ box, label: "I", score: 0.5, color: red }], lineWidth: 1 }));
    expect(lines[0]).toBe(".".repeat(20));
    // The letter I, then "50%" after a space.
    expect(lines.slice(1, 8)).toEqual([
      "rrrrrrrrrrrrrrrrrrrr",
      expect.stringMatching(/^rwwwr/),
      expect.stringMatching(/^rrwrr/),
      expect.stringMatching(/^rrwrr/),
      expect.stringMatching(/^rrwrr/),
      expect.stringMatching(/^rwwwr/),
      "rrrrrrrrrrrrrrrrrrrr",
    ]);
    expect(textWidth("I 50%")).toBe(19);
  });

  it("mixes masks with the picture, at any size", () => {
    const mask = { width: 2, height: 1, classes: [0, 3] };
    const { data } = draw(grey(4, 2), { mask, opacity: 1 });
    const at = (x: number, y: number) => [...data.subarray((y * 4 + x) * 3, (y * 4 + x) * 3 + 3)];
    expect([at(0, 0), at(1, 1)]).toEqual([
      [100, 100, 100],
      [100, 100, 100],
    ]);
    expect([at(2, 0), at(3, 1)]).toEqual([[...colorOf(3)], [...colorOf(3)]]);
    expect(draw(grey(4, 2), { mask, opacity: 0 }).data).toEqual(grey(4, 2).data);
  });

  it("draws points that are likely, and lines between them", () => {
    const points = [
      { x: 1, y: 2, color: red },
      { x: 7, y: 2, color: red },
      { x: 4, y: 4, score: 0.1, color: red },
    ];
    const lines = [
      [0, 1],
      [0, 2],
    ] as const;
    const shown = show(draw(grey(9, 5), { points, lines, lineWidth: 1 }));
    expect(shown[2]).toBe("rrrwwwrrr");
    expect(shown[4]).toBe(".........");
  });

  it("ends for points and boxes far away", () => {
    const far = 1e9;
    const points = [
      { x: -far, y: 0 },
      { x: far, y: far },
    ];
    expect(
      draw(grey(3, 3), {
        points,
        lines: [[0, 1]],
        boxes: [{ box: { left: -far, top: -far, right: far, bottom: far } }],
      }),
    ).toMatchObject({ width: 3 });
  });

  it("takes the old name of a color, after the new one", () => {
    const box = { left: 0, top: 0, right: 2, bottom: 2 };
    const [point, white] = [{ x: 4, y: 1 }, [255, 255, 255] as const];
    const drawn = (colors: { readonly color?: Color; readonly colour?: Color }) =>
      draw(grey(6, 3), { boxes: [{ box, ...colors }], points: [{ ...point, ...colors }], lineWidth: 1 }).data;
    expect(drawn({ colour: red })).toEqual(drawn({ color: red }));
    expect(drawn({ color: red, colour: white })).toEqual(drawn({ color: red }));
    expect(drawn({ color: white })).not.toEqual(drawn({ color: red }));
    expect(colourOf).toBe(colorOf);
  });

  it("gives neighbouring classes different colours", () => {
    const colours = Array.from({ length: 40 }, (_, index) => colorOf(index).join());
    expect(new Set(colours).size).toBe(40);
  });
});

describe("encodePng", () => {
  it("writes what decodePicture reads", async () => {
    const picture = { width: 3, height: 2, data: Uint8Array.from({ length: 18 }, (_, place) => place * 14) };
    expect(await decodePicture(await encodePng(picture))).toEqual(picture);
  });
});
