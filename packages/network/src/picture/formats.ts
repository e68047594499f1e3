/**
 * The formats of pictures: their first bytes, what a file costs before it is decoded, and their decoders.
 */
import { messageOf, oneLine } from "../text.ts";
import { bmpSize, readBmp } from "./bmp.ts";
import { readJpegHeader } from "./jpeg-header.ts";
import { checkSize, type Picture } from "./picture.ts";
import { pngSize } from "./png.ts";
import { webpSize } from "./webp-parts.ts";

/** A picture that can be decoded: of a known format, and within the limits. */
export interface Announced {
  /** The pixels that a decoder goes over, each as often as it does so. */
  readonly work: number;
  /** Rejects with a RangeError. */
  decode(): Promise<Picture>;
}

interface Format {
  readonly name: string;
  readonly start: readonly number[];
  /** Reads what the file says of itself. Throws a RangeError. */
  announce(bytes: Uint8Array): { readonly width: number; readonly height: number; readonly work?: number };
  decode(bytes: Uint8Array, atLeast: Wanted["atLeast"]): Promise<Picture>;
}

/** Decoders are loaded when a file needs one. Which there are depends on the platform: see `imports` in package.json. */
const decoders = () => import("#decoders");

/** A byte that says nothing about the format. */
const ANY = -1;

const size =
  (sizeOf: (bytes: Uint8Array) => readonly [number, number]): Format["announce"] =>
  (bytes) => {
    const [width, height] = sizeOf(bytes);
    return { width, height };
  };

/** Width and height of a GIF file. Throws a RangeError if the file ends before them. */
export function gifSize(bytes: Uint8Array): readonly [width: number, height: number] {
  if (bytes.length < 10) throw new RangeError(`it ends after ${bytes.length} bytes`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return [view.getUint16(6, true), view.getUint16(8, true)];
}

const formats: readonly Format[] = [
  {
    name: "PNG",
    start: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
    announce: size(pngSize),
    decode: async (bytes) => (await decoders()).readPng(bytes),
  },
  {
    name: "JPEG",
    start: [0xff, 0xd8, 0xff],
    announce: readJpegHeader,
    decode: async (bytes, atLeast) => (await decoders()).readJpeg(bytes, atLeast),
  },
  {
    name: "WebP",
    start: [0x52, 0x49, 0x46, 0x46, ANY, ANY, ANY, ANY, 0x57, 0x45, 0x42, 0x50],
    announce: size(webpSize),
    decode: async (bytes) => (await decoders()).readWebp(bytes),
  },
  {
    name: "GIF",
    start: [0x47, 0x49, 0x46, 0x38],
    announce: size(gifSize),
    decode: async (bytes) => (await import("./gif.ts")).readGif(bytes),
  },
  { name: "BMP", start: [0x42, 0x4d], announce: size(bmpSize), decode: async (bytes) => readBmp(bytes) },
];

/** A progressive JPEG file of the largest size may have this many scans; smaller ones more, so that the work is the same. */
const MOST_SCANS_OF_LARGEST = 10;

/** Limits of a picture. */
export interface Wanted {
  /** The most pixels. */
  readonly maxPixels: number;
  /** Pixels of the shorter side that suffice; undefined: all of them. */
  readonly atLeast: number | undefined;
}

/** Finds the format of a file, and what it costs. Throws a RangeError for a file that is refused before it is decoded. */
export function announcePicture(bytes: Uint8Array, { maxPixels, atLeast }: Wanted): Announced {
  const format = formats.find(({ start }) => start.every((byte, place) => byte === ANY || bytes[place] === byte));
  if (format === undefined) throw new RangeError("is not a PNG, JPEG, WebP, GIF or BMP picture");
  const refusal = (error: unknown) =>
    new RangeError(`is a ${format.name} picture that cannot be read: ${oneLine(messageOf(error))}`, { cause: error });
  try {
    const { width, height, work = width * height } = format.announce(bytes);
    checkSize(width, height, maxPixels);
    if (work > MOST_SCANS_OF_LARGEST * maxPixels)
      throw new RangeError(
        `its scans have ${Math.round(work / 1e6)} megapixels in all, more than ${(MOST_SCANS_OF_LARGEST * maxPixels) / 1e6}`,
      );
    return {
      work,
      decode: () =>
        format.decode(bytes, atLeast).catch((error: unknown) => {
          throw refusal(error);
        }),
    };
  } catch (error) {
    throw refusal(error);
  }
}
