/**
 * `picture`: from a file or what a program has in memory to pixels.
 */
import type { OptionNames } from "@nnhal/operations";
import { type Bitmap, isDrawable, pixelsOf } from "../browser.ts";
import { check, NetworkError } from "../error.ts";
import { checkOptions, wrapErrors } from "../options.ts";
import { type ReadOptions, readSource, type Source } from "../read.ts";
import { messageOf } from "../text.ts";
import { decodePicture } from "./decode.ts";
import type { Wanted } from "./formats.ts";
import { isPictureLike, type PictureLike, rgbOf } from "./like.ts";
import { MOST_PIXELS, onWhite, type Picture, type PictureUse, sizeProblem } from "./picture.ts";

/**
 * A file, an address or its bytes (see `Source`): PNG, JPEG, WebP, GIF (first frame) or BMP. Or pixels: an ImageData or any
 * `{ width, height, data }`. Or, in a browser, an ImageBitmap, a canvas, a video, or an image that is loaded.
 */
export type PictureSource = Source | PictureLike | Bitmap;

/** Options of putting a picture into an input, and the signal that ends its reading. */
export interface PictureOptions extends PictureUse {
  readonly signal?: AbortSignal | undefined;
  /** The most bytes of a file. Default: 2 GiB. */
  readonly maxBytes?: number | undefined;
  /** The most pixels of a file, which is refused before it is decoded if it has more. Default: 100 million. */
  readonly maxPixels?: number | undefined;
  /**
   * Pixels of the shorter side that suffice, such as twice those of the model's input: Node.js decodes a JPEG file of grey or colour at a half, a
   * quarter or an eighth of its width and height as long as the shorter keeps as many, which takes up to a seventh of the time. Default: the whole size.
   */
  readonly atLeast?: number | undefined;
}

const pictureOptions: OptionNames<PictureOptions> = {
  fit: true,
  background: true,
  mean: true,
  std: true,
  signal: true,
  maxBytes: true,
  maxPixels: true,
  atLeast: true,
};

/**
 * A picture, which inputs of models accept. Transparent pixels are blended with white, and photographs turned upright.
 * Files of more than a megapixel are decoded beside the calling thread. Rejects with a NetworkError, or with the reason of the signal.
 */
export function picture(source: PictureSource, options: PictureOptions = {}): Promise<Picture> {
  return wrapErrors("picture", options, () => loadPicture(source, options));
}

async function loadPicture(source: PictureSource, options: PictureOptions): Promise<Picture> {
  checkOptions("picture", options, pictureOptions);
  const { signal, maxBytes, maxPixels = MOST_PIXELS, atLeast, ...use } = options;
  for (const [name, pixels] of Object.entries({ maxPixels, atLeast: atLeast ?? 1 }))
    check(
      typeof pixels === "number" && pixels > 0,
      "BAD_OPTION",
      () => `picture: ${name} is ${pixels}, not a number of pixels above 0`,
    );
  const { fit = "stretch" } = use;
  check(
    ["stretch", "cover", "contain"].includes(fit),
    "BAD_OPTION",
    () => `picture: the fit "${fit}" is not stretch, cover or contain`,
  );
  const pixels = await pixelsOfSource(source, { signal, maxBytes }, { maxPixels, atLeast });
  return Object.keys(use).length === 0 ? pixels : { ...pixels, use: { ...pixels.use, ...use } };
}

async function pixelsOfSource(source: PictureSource, reading: ReadOptions, wanted: Wanted): Promise<Picture> {
  if (isPictureLike(source)) return rgbOf(source);
  if (isDrawable(source)) {
    const { width, height } = source;
    const problem = sizeProblem(width, height);
    check(problem === undefined, "WRONG_SIZE", () => `the picture cannot be drawn: ${problem}`);
    return onWhite(width, height, pixelsOf(source));
  }
  // All else is a file.
  const file = source as Source;
  const bytes = await readSource(file, "picture", reading);
  try {
    return await decodePicture(bytes, { ...wanted, signal: reading.signal });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const name =
      typeof file === "string" || file instanceof URL ? `the file ${String(file).slice(0, 200)}` : "the data";
    throw new NetworkError("NOT_A_PICTURE", `${name} ${messageOf(error)}`, { cause: error });
  }
}
