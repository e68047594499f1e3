/**
 * Pictures in memory: those of this package, and those of other programs and of browsers.
 */
import { expectAttached } from "../bytes.ts";
import { check } from "../error.ts";
import { onWhite, type Picture, type PictureUse, sizeProblem } from "./picture.ts";

/** Pixels row by row from the top: 4 bytes each for red, green, blue and alpha, as in an ImageData, 3 without alpha, or 1 of grey. */
export interface PictureLike {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array | Uint8ClampedArray;
  readonly use?: PictureUse | undefined;
}

/** True if a value is a picture in memory. */
export function isPictureLike(value: unknown): value is PictureLike {
  if (typeof value !== "object" || value === null || !("width" in value && "height" in value && "data" in value))
    return false;
  const { width, height, data } = value;
  const isBytes = data instanceof Uint8Array || data instanceof Uint8ClampedArray;
  return typeof width === "number" && typeof height === "number" && isBytes;
}

/** Red, green and blue of a picture. Throws a NetworkError if its data have a wrong length. */
export function rgbOf({ width, height, data, use }: PictureLike): Picture {
  expectAttached(data, "a picture");
  // Its memory is there already.
  const problem = sizeProblem(width, height, Number.POSITIVE_INFINITY);
  check(problem === undefined, "WRONG_SIZE", () => `a picture cannot be used: ${problem}`);
  const channels = data.length / (width * height);
  check(
    channels === 1 || channels === 3 || channels === 4,
    "WRONG_SIZE",
    () => `a picture of ${width} x ${height} has 4, 3 or 1 bytes for each pixel; its data have ${data.length} bytes`,
  );
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (channels === 4) return { ...onWhite(width, height, bytes), ...(use && { use }) };
  const rgb = channels === 3 ? bytes : greyToRgb(bytes);
  return { width, height, data: rgb, ...(use && { use }) };
}

function greyToRgb(grey: Uint8Array): Uint8Array {
  const rgb = new Uint8Array(3 * grey.length);
  for (let at = 0; at < grey.length; at++) rgb.fill(grey[at] ?? 0, 3 * at, 3 * at + 3);
  return rgb;
}
