/**
 * Draws results onto pictures: boxes with labels, masks of classes, key points and the lines between them.
 */
import { elementAt, type OptionNames } from "@nnhal/operations";
import { check } from "../error.ts";
import { checkOptions } from "../options.ts";
import { kindOf } from "../values.ts";
import { type Color, colorOf } from "./class-colors.ts";
import { type DrawText, type TextImage, textImage } from "./font.ts";
import { legendOf } from "./legend.ts";
import { isPictureLike, type PictureLike, rgbOf } from "./like.ts";
import type { Picture } from "./picture.ts";
import { type Area, placeLabels } from "./place-labels.ts";

export { type Color, colorOf };

/** @deprecated The old name of `Color`: it goes with the next release. */
export type Colour = Color;

/** Edges in pixels of the picture. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Shapes to draw. Colours default to one for each class or point. */
export interface Drawing {
  readonly boxes?: readonly {
    readonly box: Box;
    /** The class, which chooses the colour. */
    readonly index?: number;
    /** Written at the box, with the score: inside the picture, and apart from the other labels as long as there is room. */
    readonly label?: string | null;
    readonly score?: number;
    readonly color?: Color;
    /** @deprecated The old name of `color`, used if that is absent: it goes with the next release. */
    readonly colour?: Color;
  }[];
  /**
   * A class for each pixel of the picture; 0 is the background, which is not drawn. `areas`, as `segment` gives them, become a legend in the
   * corner with the least of them.
   */
  readonly mask?: {
    readonly width: number;
    readonly height: number;
    readonly classes: ArrayLike<number>;
    readonly areas?: readonly { readonly index: number; readonly label?: string | null; readonly share?: number }[];
  };
  /** Share of the mask's colour, 0 to 1. Default: 0.6. */
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
  /**
   * Draws the labels, for letters that are missing. Default: letters of points for Latin, Greek, Cyrillic, Armenian and Georgian scripts; in
   * browsers the canvas draws labels with others.
   */
  readonly drawText?: DrawText;
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
  drawText: true,
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
  const scale = Math.max(1, Math.round(Math.min(width, height) / 400));
  const pad = 2 * scale;
  const image = (text: string) => cutText(textImage(text, scale, drawing.drawText), width - 2 * pad);
  const labels: { readonly image: TextImage; readonly color: Color; readonly box: Box }[] = [];
  for (const [
    place,
    { box, index = place, label, score, colour, color = colour ?? colorOf(index) },
  ] of boxes.entries()) {
    const { left, top, right, bottom } = box;
    fill(left, top, right, top + lineWidth, color);
    fill(left, bottom - lineWidth, right, bottom, color);
    fill(left, top, left + lineWidth, bottom, color);
    fill(right - lineWidth, top, right, bottom, color);
    const words = [label ?? "", score === undefined ? "" : `${Math.round(100 * score)}%`].filter((word) => word !== "");
    if (words.length > 0) labels.push({ image: image(words.join(" ")), color, box });
  }
  // A network may compute numbers that are none.
  const isSeen = (place: number) => {
    const { x, y, score = 1 } = points[place] ?? { x: Number.NaN, y: Number.NaN };
    return Number.isFinite(x) && Number.isFinite(y) && score >= threshold;
  };
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
  const write = (text: TextImage, area: Area, left: number, ink: Color) => {
    for (let y = 0; y < text.height; y++) {
      for (let x = 0; x < text.width; x++) {
        const share = elementAt(text.data, y * text.width + x) / 255;
        const [atX, atY] = [area.left + left + x, area.top + Math.floor((area.height - text.height) / 2) + y];
        if (share === 0 || atX < 0 || atY < 0 || atX >= width || atY >= height) continue;
        const at = (atY * width + atX) * 3;
        for (const [channel, value] of ink.entries())
          data[at + channel] = Math.round(elementAt(data, at + channel) * (1 - share) + value * share);
      }
    }
  };
  const paint = ({ left, top, ...size }: Area, color: Color) =>
    fill(left, top, left + size.width, top + size.height, color);
  const legend = mask === undefined ? undefined : legendOf(mask, { width, height, pad, image });
  if (legend !== undefined) {
    paint(legend.area, [255, 255, 255]);
    for (const { text, swatch, color, area } of legend.rows) {
      if (color !== undefined) paint(swatch, color);
      write(text, area, 0, [0, 0, 0]);
    }
  }
  const sizes = labels.map(({ image: text, box }) => ({ width: text.width + 2 * pad, height: text.height + pad, box }));
  for (const [place, area] of placeLabels(picture, sizes, legend === undefined ? [] : [legend.area]).entries()) {
    const { image: text, color } = elementAt(labels, place);
    const [red, green, blue] = color;
    const isLight = 0.299 * red + 0.587 * green + 0.114 * blue > 140;
    paint(area, color);
    write(text, area, pad, isLight ? [0, 0, 0] : [255, 255, 255]);
  }
  return { width, height, data };
}

/** A text without what is too wide. */
function cutText(text: TextImage, most: number): TextImage {
  const width = Math.max(0, Math.min(text.width, most));
  if (width === text.width) return text;
  const data = Uint8Array.from({ length: width * text.height }, (_, pixel) =>
    elementAt(text.data, Math.floor(pixel / width) * text.width + (pixel % width)),
  );
  return { width, height: text.height, data };
}
