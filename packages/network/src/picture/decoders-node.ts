/**
 * The decoders of Node.js.
 */
import { crc32, inflateSync } from "node:zlib";
import jpeg from "jpeg-js";
import { messageOf } from "../text.ts";
import { jpegOrientation, upright, webpOrientation } from "./exif.ts";
import { checkSize, MOST_PIXELS, onWhite, type Picture } from "./picture.ts";
import { readPng as readPngFile } from "./png.ts";
import { webpSize } from "./webp-size.ts";

/** Reads a PNG file. */
export async function readPng(bytes: Uint8Array): Promise<Picture> {
  return readPngFile(bytes, {
    inflate: (packed, maxOutputLength) => inflateSync(packed, { maxOutputLength }),
    crc32: (data) => crc32(data),
  });
}

/** Reads a JPEG file, and turns it upright. */
export async function readJpeg(bytes: Uint8Array): Promise<Picture> {
  const most = MOST_PIXELS / 1e6;
  try {
    const { width, height, data } = jpeg.decode(bytes, {
      useTArray: true,
      tolerantDecoding: false,
      maxResolutionInMP: most,
      maxMemoryUsageInMB: 2048,
    });
    checkSize(width, height);
    return upright(onWhite(width, height, data), jpegOrientation(bytes));
  } catch (error) {
    if (!messageOf(error).startsWith("maxResolutionInMP")) throw error;
    throw new RangeError(`its size is more than ${most} megapixels`, { cause: error });
  }
}

let webp: Promise<(bytes: ArrayBuffer) => Promise<ImagePixels>> | undefined;

interface ImagePixels {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8ClampedArray;
}

/** Reads a WebP file, and turns it upright. Of an animation that is not one picture the decoder reads nothing. */
export async function readWebp(bytes: Uint8Array): Promise<Picture> {
  checkSize(...webpSize(bytes));
  webp ??= openWebp();
  const decode = await webp;
  const { width, height, data } = await decode(new Uint8Array(bytes).buffer);
  return upright(onWhite(width, height, new Uint8Array(data.buffer)), webpOrientation(bytes));
}

interface Compiler {
  compile(bytes: Uint8Array): Promise<object>;
}

/** The decoder's own loader would ask for its WebAssembly by HTTP. */
async function openWebp(): Promise<(bytes: ArrayBuffer) => Promise<ImagePixels>> {
  const [{ default: decode, init }, { webp: code }] = await Promise.all([
    import("@jsquash/webp/decode.js"),
    import("#webp"),
  ]);
  // The types of Node.js have no values of this name.
  const { WebAssembly: compiler } = globalThis as unknown as { readonly WebAssembly: Compiler };
  await init(await compiler.compile(code));
  return decode;
}
