/**
 * Pictures on a terminal: two pixels in each character, one above the other.
 */

import type { Picture } from "@nnhal/network/tensors";
import { elementAt } from "@nnhal/operations";

/** Options of showing a picture. */
export interface PreviewOptions {
  /** Width in characters, which is the width in pixels. */
  readonly columns: number;
  /** 24-bit colours; else dark and light only. */
  readonly hasColours: boolean;
}

/** The lines of a preview. All show `columns` characters. */
export function preview(picture: Picture, { columns, hasColours }: PreviewOptions): string[] {
  const width = Math.min(columns, picture.width);
  const rows = Math.max(1, Math.round((width * picture.height) / picture.width / 2));
  const small = shrink(picture, width, rows * 2);
  const show = hasColours ? colourRow(small) : twoTone(small);
  const padding = " ".repeat(columns - width);
  return Array.from({ length: rows }, (_, row) => show(row) + padding);
}

/** Every pixel the mean of the pixels it stands for. */
function shrink({ width, height, data }: Picture, toWidth: number, toHeight: number): Picture {
  const result = new Uint8Array(toWidth * toHeight * 3);
  const range = (place: number, from: number, to: number) => {
    const start = Math.floor((place * from) / to);
    return [start, Math.max(start + 1, Math.floor(((place + 1) * from) / to))] as const;
  };
  for (let y = 0; y < toHeight; y++) {
    const [top, bottom] = range(y, height, toHeight);
    for (let x = 0; x < toWidth; x++) {
      const [left, right] = range(x, width, toWidth);
      for (let channel = 0; channel < 3; channel++) {
        let sum = 0;
        for (let row = top; row < bottom; row++) {
          for (let column = left; column < right; column++)
            sum += elementAt(data, (row * width + column) * 3 + channel);
        }
        result[(y * toWidth + x) * 3 + channel] = Math.round(sum / ((bottom - top) * (right - left)));
      }
    }
  }
  return { width: toWidth, height: toHeight, data: result };
}

type ShowRow = (row: number) => string;

function colourRow({ width, data }: Picture): ShowRow {
  const colour = (x: number, y: number) => data.subarray((y * width + x) * 3, (y * width + x) * 3 + 3).join(";");
  return (row) => {
    let line = "";
    for (let x = 0; x < width; x++) line += `\x1b[38;2;${colour(x, 2 * row)};48;2;${colour(x, 2 * row + 1)}m▀`;
    return `${line}\x1b[0m`;
  };
}

/** Draws the pixels that differ from most of the picture, whether they are its dark or its light part. */
function twoTone({ width, data }: Picture): ShowRow {
  const brightness = Array.from({ length: data.length / 3 }, (_, pixel) => {
    const at = pixel * 3;
    return elementAt(data, at) + elementAt(data, at + 1) + elementAt(data, at + 2);
  });
  const middle = (Math.min(...brightness) + Math.max(...brightness)) / 2;
  const darkPixels = brightness.filter((value) => value < middle).length;
  const drawsDark = darkPixels * 2 <= brightness.length;
  const isDrawn = (x: number, y: number) => elementAt(brightness, y * width + x) < middle === drawsDark;
  return (row) => {
    let line = "";
    for (let x = 0; x < width; x++) {
      line += " ▀▄█"[(isDrawn(x, 2 * row) ? 1 : 0) + (isDrawn(x, 2 * row + 1) ? 2 : 0)];
    }
    return line;
  };
}
