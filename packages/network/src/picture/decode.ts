/**
 * Decodes PNG, JPEG, WebP, GIF and BMP files, told apart by their first bytes. Every problem of a file is a RangeError with a
 * message that goes on from the file's name.
 */
import { messageOf, oneLine } from "../text.ts";
import { readBmp } from "./bmp.ts";
import { readGif } from "./gif.ts";
import type { Picture } from "./picture.ts";

/** Decoders are loaded when a file needs one. Which there are depends on the platform: see `imports` in package.json. */
const decoders = () => import("#decoders");

/** A byte that says nothing about the format. */
const ANY = -1;

const formats = [
  {
    name: "PNG",
    start: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
    decode: async (bytes: Uint8Array) => (await decoders()).readPng(bytes),
  },
  {
    name: "JPEG",
    start: [0xff, 0xd8, 0xff],
    decode: async (bytes: Uint8Array) => (await decoders()).readJpeg(bytes),
  },
  {
    name: "WebP",
    start: [0x52, 0x49, 0x46, 0x46, ANY, ANY, ANY, ANY, 0x57, 0x45, 0x42, 0x50],
    decode: async (bytes: Uint8Array) => (await decoders()).readWebp(bytes),
  },
  { name: "GIF", start: [0x47, 0x49, 0x46, 0x38], decode: async (bytes: Uint8Array) => readGif(bytes) },
  { name: "BMP", start: [0x42, 0x4d], decode: async (bytes: Uint8Array) => readBmp(bytes) },
] as const;

/**
 * Decodes a picture, of a GIF file the first frame. Transparent pixels are blended with white. Pictures are turned upright as their EXIF
 * data say.
 */
export async function decodePicture(bytes: Uint8Array): Promise<Picture> {
  const format = formats.find(({ start }) => start.every((byte, place) => byte === ANY || bytes[place] === byte));
  if (format === undefined) throw new RangeError("is not a PNG, JPEG, WebP, GIF or BMP picture");
  try {
    return await format.decode(bytes);
  } catch (error) {
    throw new RangeError(`is a ${format.name} picture that cannot be read: ${oneLine(messageOf(error))}`, {
      cause: error,
    });
  }
}
