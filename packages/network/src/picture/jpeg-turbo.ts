/**
 * Decodes JPEG files at a part of their size: libjpeg-turbo, as WebAssembly, then transforms fewer coefficients of each block. The scale is what
 * `tjDecompress2` of its documentation finds for a width and a height.
 */
import { onWhite, type Picture } from "./picture.ts";
import { instantiate } from "./wasm-module.ts";

/** The factor by which a picture is decoded less wide and high: 1, 2, 4 or 8, since its blocks have 8 x 8 pixels. */
export function reductionOf({ width, height }: Size, atLeast = Number.POSITIVE_INFINITY): number {
  return [8, 4, 2].find((factor) => Math.min(width, height) / factor >= atLeast) ?? 1;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Red, green, blue and alpha, which is 255, in its numbers of pixel formats. */
const TJPF_RGBA = 7;

interface TurboExports {
  readonly memory: { readonly buffer: ArrayBuffer };
  malloc(bytes: number): number;
  tjInitDecompress(): number;
  tjDecompress2(
    decoder: number,
    file: number,
    fileBytes: number,
    pixels: number,
    width: number,
    bytesOfRow: number,
    height: number,
    format: number,
    flags: number,
  ): number;
}

/** Functions of C that it imports. It calls them for errors alone, which end the decoding. */
const imports = {
  env: { setjmp: () => 0, longjmp: refuse },
  wasi_snapshot_preview1: {
    environ_sizes_get: () => 0,
    environ_get: refuse,
    proc_exit: refuse,
    fd_close: refuse,
    fd_seek: refuse,
    fd_write: refuse,
  },
};

function refuse(): never {
  throw new RangeError("libjpeg-turbo cannot decode the file");
}

/**
 * A file of grey or colour at 1 / `reduction` of its width and height, rounded up; undefined if it is damaged in any way, which the decoder of whole pictures
 * judges and names.
 */
export async function decodeReduced(bytes: Uint8Array, header: Size, reduction: number): Promise<Picture | undefined> {
  const { jpegTurbo } = await import("#jpeg-turbo");
  // Each picture has a memory of its own, which goes with it.
  const { memory, ...turbo } = await instantiate<TurboExports>("jpeg-turbo", jpegTurbo, imports);
  const [width, height] = [Math.ceil(header.width / reduction), Math.ceil(header.height / reduction)];
  const size = width * height * 4;
  const [file, pixels, decoder] = [turbo.malloc(bytes.length), turbo.malloc(size), turbo.tjInitDecompress()];
  if (file === 0 || pixels === 0 || decoder === 0) return undefined;
  new Uint8Array(memory.buffer).set(bytes, file);
  try {
    const args = [decoder, file, bytes.length, pixels, width, width * 4, height, TJPF_RGBA, 0] as const;
    if (turbo.tjDecompress2(...args) !== 0) return undefined;
  } catch {
    return undefined;
  }
  return onWhite(width, height, new Uint8Array(memory.buffer, pixels, size));
}
