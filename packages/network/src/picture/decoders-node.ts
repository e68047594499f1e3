/**
 * The decoders of Node.js.
 */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { inflateSync } from "node:zlib";
import { elementAt } from "@nnhal/operations";
import jpeg from "jpeg-js";
import { PNG } from "pngjs";
import { messageOf } from "../text.ts";
import { jpegOrientation, upright, webpOrientation } from "./exif.ts";
import { checkSize, MOST_PIXELS, onWhite, type Picture } from "./picture.ts";
import { webpSize } from "./webp-size.ts";

const IHDR_END = 33;
const IDAT = 0x49444154;

/** Numbers in a pixel, by colour type. */
const pngChannels: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/** Reads a PNG file. */
export async function readPng(bytes: Uint8Array): Promise<Picture> {
  if (bytes.length < IHDR_END) throw new RangeError(`it ends after ${bytes.length} bytes, in the header`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [width, height] = [view.getUint32(16), view.getUint32(20)];
  checkSize(width, height);
  checkPixelData(bytes, view, width, height);
  const { data } = PNG.sync.read(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  return onWhite(width, height, data);
}

/** What some files have behind their last pixel does no harm. */
const SLACK = 65_536;

/**
 * Refuses a file whose pixel data unpack to less than its size needs, since pngjs leaves the rest of its memory as it
 * was, or to far more, since it does not limit how much it unpacks of interlaced files.
 */
function checkPixelData(bytes: Uint8Array, view: DataView, width: number, height: number): void {
  const bits = elementAt(bytes, 24) * (pngChannels[elementAt(bytes, 25)] ?? 0);
  const rowsOf = (columns: number, rows: number) => (columns === 0 ? 0 : rows * (1 + Math.ceil((columns * bits) / 8)));
  const needed = bytes[28] === 0 ? rowsOf(width, height) : interlacedBytes(width, height, rowsOf);
  const parts: Uint8Array[] = [];
  for (let at = 8; at + 12 <= bytes.length; at += 12 + view.getUint32(at)) {
    if (view.getUint32(at + 4) === IDAT) parts.push(bytes.subarray(at + 8, at + 8 + view.getUint32(at)));
  }
  const { length } = inflateSync(Buffer.concat(parts), { maxOutputLength: needed + SLACK });
  if (length < needed) throw new RangeError(`its pixels end after ${length} of ${needed} bytes`);
}

/** The seven passes of an interlaced file: first column and row, and how far it is to the next. */
const passes = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

function interlacedBytes(width: number, height: number, rowsOf: (columns: number, rows: number) => number): number {
  const count = (extent: number, first: number, step: number) => Math.max(0, Math.ceil((extent - first) / step));
  return passes.reduce(
    (sum, [column, row, across, down]) => sum + rowsOf(count(width, column, across), count(height, row, down)),
    0,
  );
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

/** The decoder's own loader asks for its WebAssembly by HTTP. */
async function openWebp(): Promise<(bytes: ArrayBuffer) => Promise<ImagePixels>> {
  const { resolve } = createRequire(import.meta.url);
  const { default: decode, init } = await import("@jsquash/webp/decode.js");
  // The types of Node.js have no values of this name.
  const { WebAssembly: compiler } = globalThis as unknown as { readonly WebAssembly: Compiler };
  await init(await compiler.compile(await readFile(resolve("@jsquash/webp/codec/dec/webp_dec.wasm"))));
  return decode;
}
