/**
 * Pictures: the result of decoders, and the input of everything else.
 */
import { elementAt } from "@nnhal/operations";

/** A picture without transparency. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  /** Red, green and blue of each pixel, row by row from the top. */
  readonly data: Uint8Array;
}

/** The most pixels that are decoded: a file that claims more is a mistake or an attack. */
export const MOST_PIXELS = 100_000_000;

/** Refuses sizes that no picture has, before memory is taken for one. */
export function checkSize(width: number, height: number): void {
  if (width < 1 || height < 1) throw new RangeError(`its size is ${width} x ${height}`);
  if (width * height > MOST_PIXELS) {
    throw new RangeError(`its size is ${width} x ${height}, more than ${MOST_PIXELS / 1e6} megapixels`);
  }
}

/** Drops the alpha channel: transparent pixels are blended with white. */
export function onWhite(width: number, height: number, rgba: Uint8Array): Picture {
  const data = new Uint8Array(width * height * 3);
  for (let from = 0, to = 0; to < data.length; from += 4) {
    const alpha = elementAt(rgba, from + 3);
    for (let channel = 0; channel < 3; channel++) {
      data[to++] = Math.round((elementAt(rgba, from + channel) * alpha + 255 * (255 - alpha)) / 255);
    }
  }
  return { width, height, data };
}
