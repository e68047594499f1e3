/**
 * The decoders of a browser: its own. They turn pictures upright.
 */
import { browser, pixelsOf } from "../browser.ts";
import { onWhite, type Picture } from "./picture.ts";

/** Reads a PNG file. */
export const readPng = (bytes: Uint8Array): Promise<Picture> => decode(bytes, "image/png");

/** Reads a JPEG file. */
export const readJpeg = (bytes: Uint8Array): Promise<Picture> => decode(bytes, "image/jpeg");

/** Reads a WebP file. */
export const readWebp = (bytes: Uint8Array): Promise<Picture> => decode(bytes, "image/webp");

async function decode(bytes: Uint8Array, type: string): Promise<Picture> {
  const blob = new Blob([new Uint8Array(bytes)], { type });
  const bitmap = await browser.createImageBitmap(blob, { premultiplyAlpha: "none" });
  try {
    return onWhite(bitmap.width, bitmap.height, pixelsOf(bitmap));
  } finally {
    bitmap.close?.();
  }
}
