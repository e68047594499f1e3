/**
 * The decoders of Node.js.
 */
import { crc32, inflateSync } from "node:zlib";
import { jpegOrientation, upright, webpOrientation } from "./exif.ts";
import { decodeInks, decodeJpeg } from "./jpeg.ts";
import { readJpegHeader } from "./jpeg-header.ts";
import { decodeReduced, reductionOf } from "./jpeg-turbo.ts";
import { onWhite, type Picture } from "./picture.ts";
import { readPng as readPngFile } from "./png.ts";
import { compileModule, type ImagePixels } from "./wasm-module.ts";
import { firstWebpFrame, webpSize } from "./webp-parts.ts";

/** Reads a PNG file. */
export async function readPng(bytes: Uint8Array): Promise<Picture> {
  return readPngFile(bytes, {
    inflate: (packed, maxOutputLength) => inflateSync(packed, { maxOutputLength }),
    crc32: (data) => crc32(data),
  });
}

/**
 * Reads a JPEG file, and turns it upright. One that lacks nothing but its last marker is read, too. `atLeast`: pixels of
 * its shorter side that suffice; one of inks has all.
 */
export async function readJpeg(bytes: Uint8Array, atLeast: number | undefined): Promise<Picture> {
  const header = readJpegHeader(bytes);
  const whole = header.isEnded ? bytes : addEndMarker(bytes);
  const decode = async () => {
    if (header.components === 4) return decodeInks(whole);
    const reduction = reductionOf(header, atLeast);
    const reduced = reduction === 1 ? undefined : await decodeReduced(whole, header, reduction);
    return reduced ?? decodeJpeg(whole);
  };
  return upright(await decode(), jpegOrientation(bytes));
}

/** A file with its last marker. */
function addEndMarker(bytes: Uint8Array): Uint8Array {
  const whole = new Uint8Array(bytes.length + 2);
  whole.set(bytes);
  whole.set([0xff, 0xd9], bytes.length);
  return whole;
}

/** Reads a WebP file, of an animation the first frame, and turns it upright. */
export async function readWebp(bytes: Uint8Array): Promise<Picture> {
  const { file, left, top } = firstWebpFrame(bytes);
  const frame = await decodeWebp(file);
  const [width, height] = webpSize(bytes);
  return upright(onCanvas(frame, left, top, width, height), webpOrientation(bytes));
}

async function decodeWebp(bytes: Uint8Array): Promise<Picture> {
  const [{ default: create }, { webp }] = await Promise.all([
    import("@jsquash/webp/codec/dec/webp_dec.js"),
    import("#webp"),
  ]);
  const module = await create(await compileModule("webp", webp));
  // The types of the package are those of browsers.
  const pixels = module.decode(new Uint8Array(bytes).buffer) as unknown as ImagePixels | null;
  if (pixels === null) throw new RangeError("its pixels are damaged, or end too early");
  return onWhite(pixels.width, pixels.height, new Uint8Array(pixels.data.buffer));
}

/** A frame in its place, with white around it. */
function onCanvas(frame: Picture, left: number, top: number, width: number, height: number): Picture {
  if (frame.width === width && frame.height === height) return frame;
  const data = new Uint8Array(width * height * 3).fill(255);
  for (let y = 0; y < frame.height; y++) {
    const row = frame.data.subarray(y * frame.width * 3, (y + 1) * frame.width * 3);
    data.set(row, ((top + y) * width + left) * 3);
  }
  return { width, height, data };
}
