/**
 * Orientation of a picture, as its EXIF data say it.
 */
import type { Picture } from "./picture.ts";

/** 1 to 8, as EXIF counts them; 1 is upright. */
export type Orientation = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;

const ORIENTATION = 0x0112;

/** The orientation in the EXIF data of a JPEG file; 1 if there are none, or broken ones. */
export function jpegOrientation(bytes: Uint8Array): Orientation {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 2; at + 4 <= bytes.length && bytes[at] === 0xff; ) {
    const marker = bytes[at + 1];
    // The pixels follow.
    if (marker === 0xda) break;
    const size = view.getUint16(at + 2);
    const isExif = marker === 0xe1 && startsWith(bytes, at + 4, "Exif\0\0");
    if (isExif) return tiffOrientation(bytes.subarray(at + 10, at + 2 + size));
    at += 2 + size;
  }
  return 1;
}

/** The orientation in the EXIF data of a WebP file; 1 if there are none, or broken ones. */
export function webpOrientation(bytes: Uint8Array): Orientation {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 12; at + 8 <= bytes.length; ) {
    const size = view.getUint32(at + 4, true);
    if (startsWith(bytes, at, "EXIF")) {
      const from = at + 8 + (startsWith(bytes, at + 8, "Exif\0\0") ? 6 : 0);
      return tiffOrientation(bytes.subarray(from, at + 8 + size));
    }
    at += 8 + size + (size % 2);
  }
  return 1;
}

function startsWith(bytes: Uint8Array, at: number, text: string): boolean {
  // Most parts of a file end the look at their first byte.
  return (
    bytes[at] === text.charCodeAt(0) && [...text].every((letter, place) => bytes[at + place] === letter.charCodeAt(0))
  );
}

function tiffOrientation(tiff: Uint8Array): Orientation {
  const view = new DataView(tiff.buffer, tiff.byteOffset, tiff.byteLength);
  if (tiff.length < 8) return 1;
  const isLittle = tiff[0] === 0x49;
  const directory = view.getUint32(4, isLittle);
  if (directory + 2 > tiff.length) return 1;
  const count = view.getUint16(directory, isLittle);
  for (let entry = 0; entry < count; entry++) {
    const at = directory + 2 + 12 * entry;
    if (at + 12 > tiff.length) break;
    if (view.getUint16(at, isLittle) !== ORIENTATION) continue;
    const value = view.getUint16(at + 8, isLittle);
    // 1 to 8 are all there are.
    return value >= 1 && value <= 8 ? (value as Orientation) : 1;
  }
  return 1;
}

/** The picture as it is to be seen. */
export function upright(picture: Picture, orientation: Orientation): Picture {
  if (orientation === 1) return picture;
  const { width, height, data } = picture;
  const isTurned = orientation >= 5;
  const [toWidth, toHeight] = isTurned ? [height, width] : [width, height];
  const result = new Uint8Array(data.length);
  const isMirrored = orientation === 2 || orientation === 3 || orientation === 7 || orientation === 8;
  const isFlipped = orientation === 3 || orientation === 4 || orientation === 6 || orientation === 7;
  // The place of the first stored pixel that is seen, and how far it is to the next one in a row, and in a column.
  const [columnStep, rowStep] = [isMirrored ? -3 : 3, 3 * width * (isFlipped ? -1 : 1)];
  const start = 3 * ((isFlipped ? height - 1 : 0) * width + (isMirrored ? width - 1 : 0));
  const [across, down] = isTurned ? [rowStep, columnStep] : [columnStep, rowStep];
  let to = 0;
  for (let y = 0; y < toHeight; y++) {
    let from = start + y * down;
    for (let x = 0; x < toWidth; x++, from += across, to += 3) {
      result[to] = data[from] ?? 0;
      result[to + 1] = data[from + 1] ?? 0;
      result[to + 2] = data[from + 2] ?? 0;
    }
  }
  return { width: toWidth, height: toHeight, data: result };
}
