/**
 * Scales pictures the way the networks that the command line runs were trained to see them.
 */
import { elementAt } from "@nnhal/operations";
import type { Picture } from "./picture.ts";

/**
 * The whole picture at another size: bilinear with half-pixel centres, edges repeated, no smoothing before shrinking,
 * rounded to nearest with halves up.
 */
export function resize({ width, height, data }: Picture, toWidth: number, toHeight: number): Picture {
  const columns = samples(width, toWidth);
  const rows = samples(height, toHeight);
  const result = new Uint8Array(toWidth * toHeight * 3);
  let to = 0;
  for (const { first: top, second: bottom, weight: down } of rows) {
    for (const { first: left, second: right, weight: across } of columns) {
      for (let channel = 0; channel < 3; channel++) {
        const at = (y: number, x: number) => elementAt(data, (y * width + x) * 3 + channel);
        const above = at(top, left) * (1 - across) + at(top, right) * across;
        const below = at(bottom, left) * (1 - across) + at(bottom, right) * across;
        result[to++] = Math.floor(above * (1 - down) + below * down + 0.5);
      }
    }
  }
  return { width: toWidth, height: toHeight, data: result };
}

interface Sample {
  readonly first: number;
  readonly second: number;
  /** The share of the second. */
  readonly weight: number;
}

function samples(from: number, to: number): Sample[] {
  return Array.from({ length: to }, (_, place) => {
    const position = Math.min(Math.max(((place + 0.5) * from) / to - 0.5, 0), from - 1);
    const first = Math.floor(position);
    return { first, second: Math.min(first + 1, from - 1), weight: position - first };
  });
}

/** Brightness of each pixel: 0.299 red + 0.587 green + 0.114 blue, rounded. */
export function toGrey({ width, height, data }: Picture): Uint8Array {
  const grey = new Uint8Array(width * height);
  for (let pixel = 0; pixel < grey.length; pixel++) {
    const at = pixel * 3;
    grey[pixel] = Math.round(
      0.299 * elementAt(data, at) + 0.587 * elementAt(data, at + 1) + 0.114 * elementAt(data, at + 2),
    );
  }
  return grey;
}
