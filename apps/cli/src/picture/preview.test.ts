import { describe, expect, it } from "vitest";
import { preview } from "./preview.ts";

const pictureOf = (width: number, ...greys: number[]) => ({
  width,
  height: greys.length / width,
  data: Uint8Array.from(greys.flatMap((value) => [value, value, value])),
});

describe("preview", () => {
  it("draws the smaller part, dark or light, two pixels in a character", () => {
    const cross = [0, 255, 255, 255, 0, 0, 255, 255, 255, 255, 0, 255, 255, 255, 255, 255];
    expect(preview(pictureOf(4, ...cross), { columns: 4, hasColours: false })).toEqual(["█▄  ", "  ▀ "]);
    const inverted = cross.map((value) => 255 - value);
    expect(preview(pictureOf(4, ...inverted), { columns: 4, hasColours: false })).toEqual(["█▄  ", "  ▀ "]);
  });

  it("shows colours as the mean of what a pixel stands for", () => {
    const [line] = preview(pictureOf(2, 0, 100, 200, 250), { columns: 1, hasColours: true });
    expect(line).toBe("\x1b[38;2;50;50;50;48;2;225;225;225m▀\x1b[0m");
  });

  it("fills lines up to the columns, and gives any shape at least one line", () => {
    expect(preview(pictureOf(1, 0, 255), { columns: 3, hasColours: false })).toEqual(["▀  "]);
    const flat = preview(pictureOf(40, ...new Array(40).fill(0)), { columns: 8, hasColours: false });
    expect(flat.map((line) => line.length)).toEqual([8]);
  });
});
