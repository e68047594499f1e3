/**
 * Texts as points, for labels on pictures.
 */
import { warnOnce } from "#platform";
import { browser } from "../browser.ts";
import { letterLines } from "./letters.ts";

/** Points of a letter. */
const WIDTH = 6;
const HEIGHT = 13;
const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** A text as how much ink each pixel has, 0 to 255, row by row from the top. */
export interface TextImage {
  readonly width: number;
  readonly height: number;
  readonly data: ArrayLike<number>;
}

/** Draws a text of one line so many pixels high. */
export type DrawText = (text: string, height: number) => TextImage;

let known: ReadonlyMap<string, string> | undefined;

/** The rows of each letter. */
function letters(): ReadonlyMap<string, string> {
  known ??= new Map(
    letterLines
      .trim()
      .split("\n")
      .flatMap((line) => {
        const [first = "", rows = ""] = line.split(" ");
        return Array.from({ length: rows.length / HEIGHT }, (_, place): [string, string] => [
          String.fromCodePoint(Number.parseInt(first, 16) + place),
          rows.slice(place * HEIGHT, (place + 1) * HEIGHT),
        ]);
      }),
  );
  return known;
}

/**
 * Draws a text: by `drawText` if there is one; else with letters of points, and where there are other letters by the canvas of a browser. A
 * letter that none has is a question mark in a box, of which the user is told once. `scale`: pixels of a point.
 */
export function textImage(text: string, scale: number, drawText?: DrawText): TextImage {
  const shown = text
    .normalize("NFC")
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, " ")
    .trim();
  if (drawText !== undefined) return drawText(shown, HEIGHT * scale);
  const all = letters();
  const missing = [...shown].filter((letter) => !all.has(letter) && !/\p{M}/u.test(letter));
  if (missing.length > 0) {
    const image = onCanvas(shown, HEIGHT * scale);
    if (image !== undefined) return image;
    tellMissing(shown, missing);
  }
  return ofPoints(shown, scale);
}

let isTold = false;

/** Tells the user of the first label whose letters are missing. */
function tellMissing(label: string, missing: readonly string[]): void {
  if (isTold) return;
  isTold = true;
  const letters = [...new Set(missing)].slice(0, 8).join("");
  warnOnce(
    `draw: the label "${label}" has letters that are shown as signs: ${letters}. There are letters of Latin, Greek, Cyrillic, Armenian and Georgian scripts; for others, such as Arabic, Chinese and Japanese ones, give the option drawText`,
  );
}

function ofPoints(text: string, scale: number): TextImage {
  const all = letters();
  // Marks that stand on the letter before them have none of their own.
  const shown = [...text.replace(/\p{M}+/gu, "")].map((letter) => all.get(letter) ?? all.get("\ufffd") ?? "");
  const width = shown.length * WIDTH * scale;
  const height = HEIGHT * scale;
  const data = new Uint8Array(width * height);
  for (const [place, rows] of shown.entries()) {
    for (let y = 0; y < height; y++) {
      const row = digits.indexOf(rows[Math.floor(y / scale)] ?? "A");
      for (let x = 0; x < WIDTH * scale; x++) {
        if ((row & (32 >> Math.floor(x / scale))) !== 0) data[y * width + place * WIDTH * scale + x] = 255;
      }
    }
  }
  return { width, height, data };
}

/** Draws with a canvas, which has letters of all scripts; undefined if there is none. */
function onCanvas(text: string, height: number): TextImage | undefined {
  if (browser.OffscreenCanvas === undefined) return undefined;
  const contextOf = (width: number) => {
    const context = new browser.OffscreenCanvas(width, height).getContext("2d");
    if (context !== null) context.font = `${Math.round(height * 0.8)}px sans-serif`;
    return context;
  };
  const width = Math.max(1, Math.ceil(contextOf(1)?.measureText(text).width ?? 0));
  const context = contextOf(width);
  if (context === null) return undefined;
  context.textBaseline = "middle";
  context.fillText(text, 0, height / 2);
  const { data } = context.getImageData(0, 0, width, height);
  return { width, height, data: Uint8Array.from({ length: width * height }, (_, pixel) => data[4 * pixel + 3] ?? 0) };
}
