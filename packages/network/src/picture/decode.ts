/**
 * Decodes PNG, JPEG, WebP, GIF and BMP files, told apart by their first bytes. Every problem of a file is a RangeError with a
 * message that goes on from the file's name.
 */
import { decodeApart } from "#apart";
import { announcePicture } from "./formats.ts";
import { MOST_PIXELS, type Picture } from "./picture.ts";

/** Options of decoding. */
export interface DecodeOptions {
  /** The most pixels: a file that claims more is refused before it is decoded. Default: 100 million. */
  readonly maxPixels?: number | undefined;
  /**
   * Pixels of the shorter side that suffice: Node.js decodes a JPEG file of grey or colour at a half, a quarter or an eighth of its width and height as
   * long as the shorter keeps as many. Default: the whole size.
   */
  readonly atLeast?: number | undefined;
  /** Ends the decoding of a large picture at once. Default: nothing ends it. */
  readonly signal?: AbortSignal | undefined;
}

/** Pixels that are decoded in the calling thread, in some hundredths of a second. More of them go to a thread of their own. */
const MOST_WORK_HERE = 1_000_000;

/**
 * Decodes a picture, of an animation the first frame. Transparent pixels are blended with white. Pictures are turned upright as their EXIF
 * data say. Rejects with a RangeError, or with the reason of the signal.
 */
export async function decodePicture(
  bytes: Uint8Array,
  { maxPixels = MOST_PIXELS, atLeast, signal }: DecodeOptions = {},
): Promise<Picture> {
  signal?.throwIfAborted();
  const wanted = { maxPixels, atLeast };
  const announced = announcePicture(bytes, wanted);
  const apart = announced.work > MOST_WORK_HERE ? await decodeApart(bytes, wanted, signal) : undefined;
  const picture = apart ?? (await announced.decode());
  signal?.throwIfAborted();
  return picture;
}
