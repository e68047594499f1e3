/**
 * Draws results onto pictures: boxes with labels, masks of classes, key points and the lines between them.
 */
import { elementAt, type OptionNames } from "@nnhal/operations";
import { check } from "../error.ts";
import { checkOptions } from "../options.ts";
import { kindOf } from "../values.ts";
import { drawText, TEXT_HEIGHT, textWidth } from "./font.ts";
import { isPictureLike, type PictureLike, rgbOf } from "./like.ts";
import type { Picture } from "./picture.ts";

/** Red, green and blue, each 0 to 255. */
export type Color = readonly [number, number, number];

/** @deprecated The old name of `Color`: it goes with the next release. */
export type Colour = Color;

/** Edges in pixels of the picture. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** What to draw. Colours default to one for each class or point. */
export interface Drawing {
  readonly boxes?: readonly {
    readonly box: Box;
    /** The class, which chooses the colour. */
    readonly index?: number;
    /** Written above the box, with the score. */
    readonly label?: string | null;
    readonly score?: number;
    readonly color?: Color;
    /** @deprecated The old name of `color`, used if that is absent: it goes with the next release. */
    readonly colour?: Color;
  }[];
  /** A class for each pixel of the picture; 0 is the background, which is not drawn. */
  readonly mask?: { readonly width: number; readonly height: number; readonly classes: ArrayLike<number> };
  /** How much of the mask's colour there is, 0 to 1. Default: 0.6. */
  readonly opacity?: number;
  /** In pixels of the picture. */
  readonly points?: readonly {
    readonly x: number;
    readonly y: number;
    readonly score?: number;
    readonly color?: Color;
    /** @deprecated The old name of `color`, used if that is absent: it goes with the next release. */
    readonly colour?: Color;
  }[];
  /** Pairs of points by place, which lines connect. */
  readonly lines?: readonly (readonly [number, number])[];
  /** Points with a lower score are not drawn, nor are their lines. Default: 0.3. */
  readonly threshold?: number;
  /** Pixels. Default: by the size of the picture. */
  readonly lineWidth?: number;
}

/** A colour for each class: neighbours differ. */
export function colorOf(index: number): Color {
  // Hues a golden angle apart never come back to one that was used.
  const hue = ((index * 137.508) % 360) / 60;
  const channel = (place: number) => {
    const at = (place + hue) % 6;
    return Math.round(255 * Math.max(0, Math.min(1, Math.min(at, 4 - at))));
  };
  return [channel(2), channel(0), channel(4)];
}

/** @deprecated The old name of `colorOf`: it goes with the next release. */
export const colourOf: typeof colorOf = colorOf;

const drawingParts: OptionNames<Drawing> = {
  boxes: true,
  mask: true,
  opacity: true,
  points: true,
  lines: true,
  threshold: true,
  lineWidth: true,
};

/** A copy of a picture with results on it. What lies outside is cut off. Throws a NetworkError for a value that is not a picture. */
export function draw(picture: PictureLike, drawing: Drawing): Picture {
  const help = "; read it with `picture`";
  check(isPictureLike(picture), "WRONG_TYPE", () => `draw: expected a picture, got ${kindOf(picture)}${help}`);
  checkOptions("draw", drawing, drawingParts);
  const { width, height, data: pixels } = rgbOf(picture);
  const data = pixels.slice();
  const { boxes = [], mask, points = [], lines = [], opacity = 0.6, threshold = 0.3 } = drawing;
  const lineWidth = drawing.lineWidth ?? Math.max(1, Math.round(Math.min(width, height) / 150));
  const set = (x: number, y: number, color: Color) => {
    if (x < 0 || y < 0 || x >= width || y >= height) return;
    data.set(color, (y * width + x) * 3);
  };
  const fill = (left: number, top: number, right: number, bottom: number, color: Color) => {
    const [firstX, lastX] = [Math.max(0, Math.round(left)), Math.min(width, Math.round(right))];
    const lastY = Math.min(height, Math.round(bottom));
    for (let y = Math.max(0, Math.round(top)); y < lastY; y++) for (let x = firstX; x < lastX; x++) set(x, y, color);
  };
  if (mask !== undefined) {
    for (let y = 0; y < height; y++) {
      const row = Math.floor((y * mask.height) / height);
      for (let x = 0; x < width; x++) {
        const index = mask.classes[row * mask.width + Math.floor((x * mask.width) / width)] ?? 0;
        if (index === 0) continue;
        const at = (y * width + x) * 3;
        for (const [channel, value] of colorOf(index).entries()) {
          data[at + channel] = Math.round(elementAt(data, at + channel) * (1 - opacity) + value * opacity);
        }
      }
    }
  }
  for (const [
    place,
    { box, index = place, label, score, colour, color = colour ?? colorOf(index) },
  ] of boxes.entries()) {
    const { left, top, right, bottom } = box;
    fill(left, top, right, top + lineWidth, color);
    fill(left, bottom - lineWidth, right, bottom, color);
    fill(left, top, left + lineWidth, bottom, color);
    fill(right - lineWidth, top, right, bottom, color);
    const words = [label ?? "", score === undefined ? "" : `${Math.round(100 * score)}%`]
      .filter((word) => word !== "")
      .join(" ");
    if (words === "") continue;
    const scale = lineWidth;
    const textTop = Math.max(0, Math.round(top) - (TEXT_HEIGHT + 2) * scale);
    fill(left, textTop, left + (textWidth(words) + 2) * scale, textTop + (TEXT_HEIGHT + 2) * scale, color);
    const [red, green, blue] = color;
    const isLight = 0.299 * red + 0.587 * green + 0.114 * blue > 140;
    const ink: Color = isLight ? [0, 0, 0] : [255, 255, 255];
    drawText(words, (x, y) => {
      const [inkLeft, inkTop] = [Math.round(left) + (x + 1) * scale, textTop + (y + 1) * scale];
      fill(inkLeft, inkTop, inkLeft + scale, inkTop + scale, ink);
    });
  }
  const isSeen = (place: number) => points[place] !== undefined && (points[place].score ?? 1) >= threshold;
  const dot = (x: number, y: number, radius: number, color: Color) => {
    for (let down = -Math.ceil(radius); down <= radius; down++) {
      for (let across = -Math.ceil(radius); across <= radius; across++) {
        if (across ** 2 + down ** 2 <= radius ** 2) set(Math.round(x) + across, Math.round(y) + down, color);
      }
    }
  };
  for (const [from, to] of lines) {
    if (!isSeen(from) || !isSeen(to)) continue;
    const [a, b] = [elementAt(points, from), elementAt(points, to)];
    // A line between points far outside is not longer than the picture allows.
    const steps = Math.min(4 * (width + height), Math.max(1, Math.ceil(Math.hypot(b.x - a.x, b.y - a.y))));
    for (let step = 0; step <= steps; step++) {
      const share = step / steps;
      dot(a.x + (b.x - a.x) * share, a.y + (b.y - a.y) * share, lineWidth / 2, [255, 255, 255]);
    }
  }
  for (const [place, { x, y, colour, color = colour ?? colorOf(place) }] of points.entries()) {
    if (isSeen(place)) dot(x, y, 1.5 * lineWidth, color);
  }
  return { width, height, data };
}
