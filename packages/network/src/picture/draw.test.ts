import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { decodePicture } from "./decode.ts";
import { type Color, colorOf, colourOf, draw } from "./draw.ts";
import { encodePng } from "./encode-png.ts";
import { type DrawText, textImage } from "./font.ts";
import { legendOf } from "./legend.ts";
import type { Picture } from "./picture.ts";
import { placeLabels } from "./place-labels.ts";

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

  /** The points of a text, as they are on a picture with one pixel a point. */
  const rowsOf = (text: string) => {
    const { width, height, data } = textImage(text, 1);
    return Array.from({ length: height }, (_, y) =>
      Array.from({ length: width }, (_, x) => (data[y * width + x] === 0 ? "r" : "w")).join(""),
    );
  };

  it("writes labels and scores above boxes, in lower case and many scripts", () => {
    for (const label of ["cat", "Größe", "щётка", "Γάτα", "nghệ"]) {
      const box = { left: 0, top: 17, right: 90, bottom: 25 };
      const lines = show(draw(grey(90, 25), { boxes: [{ box, label, score: 0.5, color: red }], lineWidth: 1 }));
      const text = rowsOf(`${label} 50%`);
      expect(text.join("")).toContain("w");
      for (const [row, points] of text.entries()) expect(lines[row + 3]?.slice(2, 2 + points.length)).toBe(points);
    }
    expect(rowsOf("cat")).not.toEqual(rowsOf("CAT"));
    expect(rowsOf("e\u0301")).toEqual(rowsOf("é"));
  });

  it("shows a letter that it does not have as a sign, and draws it with what it is given", () => {
    expect(rowsOf("猫")).toEqual(rowsOf("\ufffd"));
    const drawText: DrawText = (text, height) => ({
      width: 2 * text.length,
      height,
      data: Array(2 * height).fill(255),
    });
    const box = { left: 0, top: 17, right: 9, bottom: 20 };
    const lines = show(draw(grey(9, 20), { boxes: [{ box, label: "猫", color: red }], drawText, lineWidth: 1 }));
    expect(lines[5]).toBe("rrwwrr...");
  });

  it("tells once of letters that it does not have, with the label and the option that helps", async () => {
    const warnings: unknown[] = [];
    vi.spyOn(process, "emitWarning").mockImplementation((warning) => void warnings.push(warning));
    vi.resetModules();
    const { draw: anew } = await import("./draw.ts");
    const box = { left: 0, top: 17, right: 9, bottom: 20 };
    const labelled = (label: string) => anew(grey(9, 20), { boxes: [{ box, label }] });
    labelled("kočka, γάτα, кошка, e\u0323\u0301");
    expect(warnings).toEqual([]);
    labelled("black 猫");
    labelled("قط");
    expect(warnings).toEqual([
      expect.stringMatching(
        /^draw: the label "black 猫" has letters that are shown as signs: 猫\. .*give the option drawText$/,
      ),
    ]);
    vi.restoreAllMocks();
  });

  it("keeps labels inside the picture, and apart", () => {
    const edges = fc.integer({ min: -50, max: 250 });
    const box = fc.record({ left: edges, top: edges, right: edges, bottom: edges });
    const labels = fc.array(fc.record({ width: fc.integer({ min: 1, max: 60 }), height: fc.constant(15), box }), {
      maxLength: 8,
    });
    const picture = { width: 200, height: 200 };
    fc.assert(
      fc.property(labels, (all) => {
        const placed = placeLabels(picture, all);
        for (const [place, { left, top, width, height }] of placed.entries()) {
          expect([left >= 0, top >= 0, left + width <= 200, top + height <= 200]).toEqual([true, true, true, true]);
          for (const other of placed.slice(0, place)) {
            const isApart =
              left >= other.left + other.width ||
              other.left >= left + width ||
              top >= other.top + other.height ||
              other.top >= top + height;
            expect(isApart).toBe(true);
          }
        }
      }),
    );
  });

  it("covers another label only where there is no room left", () => {
    const label = { width: 20, height: 10, box: { left: 0, top: 0, right: 20, bottom: 10 } };
    const tops = placeLabels({ width: 20, height: 20 }, [label, label, label]).map(({ top }) => top);
    expect(tops).toEqual([0, 10, 0]);
  });

  it("cuts a label that is wider than the picture", () => {
    const box = { left: 0, top: 17, right: 30, bottom: 25 };
    const lines = show(draw(grey(30, 25), { boxes: [{ box, label: "a long label", color: red }], lineWidth: 1 }));
    expect(lines[5]?.slice(28)).toBe("rr");
  });

  it("writes a legend of a mask, without the background, in the corner where it hides least", () => {
    const classes = Array.from({ length: 100 * 100 }, (_, pixel) => (pixel % 100 < 50 || pixel < 5000 ? 3 : 0));
    const areas = [
      { index: 3, label: "cat", share: 0.75 },
      { index: 0, label: "background", share: 0.25 },
    ];
    const mask = { width: 100, height: 100, classes, areas };
    const { data } = draw(grey(100, 100), { mask, opacity: 1 });
    const isWhite = (x: number, y: number) =>
      [...data.subarray((y * 100 + x) * 3, (y * 100 + x) * 3 + 3)].join() === "255,255,255";
    // The right half at the bottom is background.
    expect([isWhite(99, 99), isWhite(0, 0), isWhite(0, 99), isWhite(99, 0)]).toEqual([true, false, false, false]);
    const without = draw(grey(100, 100), { mask: { ...mask, areas: areas.slice(1) }, opacity: 1 });
    expect([...without.data.subarray(-3)]).toEqual([100, 100, 100]);
  });

  it("counts the classes of a legend for which there is no room", () => {
    const areas = Array.from({ length: 10 }, (_, index) => ({ index: index + 1, label: "x" }));
    const image = (text: string) => textImage(text, 1);
    const mask = { width: 1, height: 1, classes: [0], areas };
    const legend = (height: number) => legendOf(mask, { width: 100, height, pad: 2, image });
    expect(legend(400)?.rows).toHaveLength(10);
    // Room for four rows: three classes, and how many more there are.
    expect(legend(130)?.rows.map(({ color }) => color !== undefined)).toEqual([true, true, true, false]);
    expect(legend(20)).toBeUndefined();
  });

  it("leaves out points that are not numbers", () => {
    const points = [
      { x: Number.NaN, y: 1, color: red },
      { x: 1, y: Number.POSITIVE_INFINITY, color: red },
    ];
    const drawing = { points, lines: [[0, 1]] as const, lineWidth: 1 };
    expect(draw(grey(3, 3), drawing).data).toEqual(grey(3, 3).data);
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
