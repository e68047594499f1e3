/**
 * `sharp`, if the user has installed it: it decodes JPEG in native threads.
 */
import { loadModule } from "../platform-node.ts";
import { readJpegHeader } from "./jpeg-header.ts";
import { reductionOf } from "./jpeg-turbo.ts";
import type { Picture } from "./picture.ts";

/** The part of the package that is used here. */
type Sharp = (bytes: Uint8Array, options: { readonly limitInputPixels: false; readonly failOn: "warning" }) => Pipeline;

interface Pipeline {
  rotate(): Pipeline;
  toColourspace(space: "srgb"): Pipeline;
  removeAlpha(): Pipeline;
  raw(): Pipeline;
  toBuffer(options: { readonly resolveWithObject: true }): Promise<{
    readonly data: Uint8Array;
    readonly info: { readonly width: number; readonly height: number; readonly channels: number };
  }>;
}

let found: Promise<Sharp | undefined> | undefined;

/**
 * A large JPEG file as a picture, turned upright; undefined if `sharp` is not installed or does not read it. Rejects with the reason of the
 * signal: what goes on in a native thread then ends by itself. The limits have been checked before.
 */
export async function decodeWithSharp(
  bytes: Uint8Array,
  atLeast: number | undefined,
  signal: AbortSignal | undefined,
): Promise<Picture | undefined> {
  if (bytes[0] !== 0xff) return undefined;
  const header = readJpegHeader(bytes);
  // The whole picture takes `sharp` longer than a part of it takes us.
  if (header.components !== 3 || reductionOf(header, atLeast) > 1) return undefined;
  found ??= findSharp();
  const sharp = await found;
  if (sharp === undefined) return undefined;
  const decoding = decode(sharp, bytes);
  if (signal === undefined) return decoding;
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([decoding, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

async function decode(sharp: Sharp, bytes: Uint8Array): Promise<Picture | undefined> {
  try {
    // By default it ends as the built-in decoder does, which then says why.
    const pipeline = sharp(bytes, { limitInputPixels: false, failOn: "warning" }).rotate();
    const { data, info } = await pipeline
      .toColourspace("srgb")
      .removeAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
    const { width, height, channels } = info;
    if (channels !== 3 || data.length !== width * height * 3) return undefined;
    return { width, height, data: new Uint8Array(data.buffer, data.byteOffset, data.length) };
  } catch {
    return undefined;
  }
}

async function findSharp(): Promise<Sharp | undefined> {
  // A `sharp` that does not load here, such as without its native library, is as none.
  const module = await loadModule("sharp").catch(() => undefined);
  const sharp = typeof module === "object" && module !== null && "default" in module ? module.default : undefined;
  // Arguments and results are as the package documents them; the size of the result is checked.
  return typeof sharp === "function" ? (sharp as Sharp) : undefined;
}
