/**
 * Pictures: the result of decoders, and the input of everything else.
 */

/** Options of putting a picture into an input. */
export interface PictureUse {
  /**
   * The whole picture, stretched to the input's size; the greatest middle part that has the input's proportions (`cover`); or the whole
   * picture in its own proportions with a background around it (`contain`). Default: stretch.
   */
  readonly fit?: "stretch" | "cover" | "contain" | undefined;
  /** The red, green and blue of the background. Default: black. */
  readonly background?: readonly [number, number, number] | undefined;
  /** Real value = (pixel - mean) / std: a number each, or one for each of red, green and blue. Default: see `pictureToTensor`. */
  readonly mean?: number | readonly number[] | undefined;
  readonly std?: number | readonly number[] | undefined;
}

/** A picture without transparency. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  /** Red, green and blue of each pixel, row by row from the top. */
  readonly data: Uint8Array;
  /** Default: as `PictureUse` says. */
  readonly use?: PictureUse | undefined;
}

/** The most pixels that are decoded by default: a file that claims more is a mistake or an attack. */
export const MOST_PIXELS = 100_000_000;

/** Why no picture has a size; undefined if one can have it. */
export function sizeProblem(width: number, height: number, most = MOST_PIXELS): string | undefined {
  const isSize = Number.isInteger(width) && Number.isInteger(height) && width > 0 && height > 0;
  if (!isSize) return `its size is ${width} x ${height}`;
  if (width * height <= most) return undefined;
  return `its size is ${width} x ${height}, more than ${most / 1e6} megapixels`;
}

/** Refuses sizes that no picture has with a RangeError, before memory is taken for one. */
export function checkSize(width: number, height: number, most = MOST_PIXELS): void {
  const problem = sizeProblem(width, height, most);
  if (problem !== undefined) throw new RangeError(problem);
}

/** A colour of 0 to 255 in front of white. */
export function blend(colour: number, alpha: number): number {
  return Math.round((colour * alpha + 255 * (255 - alpha)) / 255);
}

/** Drops the alpha channel: transparent pixels are blended with white. */
export function onWhite(width: number, height: number, rgba: Uint8Array): Picture {
  const data = new Uint8Array(width * height * 3);
  for (let from = 0, to = 0; to < data.length; from += 4, to += 3) {
    const alpha = rgba[from + 3] ?? 0;
    // Nearly all pixels of nearly all pictures.
    if (alpha === 255) {
      data[to] = rgba[from] ?? 0;
      data[to + 1] = rgba[from + 1] ?? 0;
      data[to + 2] = rgba[from + 2] ?? 0;
      continue;
    }
    for (let channel = 0; channel < 3; channel++) data[to + channel] = blend(rgba[from + channel] ?? 0, alpha);
  }
  return { width, height, data };
}
