/**
 * Decodes PNG, JPEG and BMP files, told apart by their first bytes. Whatever is wrong with one is a RangeError with a
 * message that goes on from the file's name.
 */
import { inflateSync } from "node:zlib";
import jpeg from "jpeg-js";
import { PNG } from "pngjs";
import { messageOf } from "../failure.ts";
import { oneLine } from "../text.ts";
import { readBmp } from "./bmp.ts";
import { checkSize, MOST_PIXELS, onWhite, type Picture } from "./picture.ts";

const formats = [
  { name: "PNG", start: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], decode: readPng },
  { name: "JPEG", start: [0xff, 0xd8, 0xff], decode: readJpeg },
  { name: "BMP", start: [0x42, 0x4d], decode: readBmp },
] as const;

/** Decodes a picture. Transparent pixels show white behind them; JPEG files are taken as stored, not turned upright. */
export function decodePicture(bytes: Uint8Array): Picture {
  const format = formats.find(({ start }) => start.every((byte, place) => bytes[place] === byte));
  if (format === undefined) throw new RangeError("is no PNG, JPEG or BMP picture");
  try {
    return format.decode(bytes);
  } catch (error) {
    throw new RangeError(`is a ${format.name} picture that cannot be read: ${oneLine(messageOf(error))}`, {
      cause: error,
    });
  }
}

const IHDR_END = 33;

function readPng(bytes: Uint8Array): Picture {
  if (bytes.length < IHDR_END) throw new RangeError(`it ends after ${bytes.length} bytes, in the header`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [width, height] = [view.getUint32(16), view.getUint32(20)];
  checkSize(width, height);
  const isInterlaced = bytes[28] !== 0;
  if (isInterlaced) checkInflated(bytes, view, width * height);
  const { data } = PNG.sync.read(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  if (data.length !== width * height * 4) throw new RangeError("its pixels are not all there");
  return onWhite(width, height, data);
}

/**
 * Refuses an interlaced file whose data are far longer unpacked than its pixels: pngjs sets a limit for plain files only.
 * A pixel has at most 8 bytes, and each of 7 passes at most one filter byte a row.
 */
function checkInflated(bytes: Uint8Array, view: DataView, pixels: number): void {
  const parts: Uint8Array[] = [];
  for (let at = 8; at + 12 <= bytes.length; at += 12 + view.getUint32(at)) {
    const isData = view.getUint32(at + 4) === 0x49444154;
    if (isData) parts.push(bytes.subarray(at + 8, at + 8 + view.getUint32(at)));
  }
  inflateSync(Buffer.concat(parts), { maxOutputLength: pixels * 8 + 7 * pixels + 64 });
}

function readJpeg(bytes: Uint8Array): Picture {
  const most = MOST_PIXELS / 1e6;
  try {
    const { width, height, data } = jpeg.decode(bytes, {
      useTArray: true,
      tolerantDecoding: false,
      maxResolutionInMP: most,
      maxMemoryUsageInMB: 2048,
    });
    checkSize(width, height);
    return onWhite(width, height, data);
  } catch (error) {
    if (!messageOf(error).startsWith("maxResolutionInMP")) throw error;
    throw new RangeError(`its size is more than ${most} megapixels`, { cause: error });
  }
}
