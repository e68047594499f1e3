import { crc32, deflateSync } from "node:zlib";
import { PNG } from "pngjs";

/** A PNG file of some pixels: red, green, blue and alpha of each. */
export function pngOf(width: number, height: number, rgba: readonly number[]): Uint8Array {
  const png = new PNG({ width, height });
  png.data.set(rgba);
  return new Uint8Array(PNG.sync.write(png));
}

/** A PNG file of one of the other kinds: pixels are what its rows hold. */
export function pngFile(
  header: { readonly width: number; readonly height: number; readonly depth: number; readonly kind: number },
  rows: Uint8Array,
  { interlace = 0, chunks = [] }: { readonly interlace?: number; readonly chunks?: readonly Buffer[] } = {},
): Uint8Array {
  const start = Buffer.alloc(13);
  start.writeUInt32BE(header.width, 0);
  start.writeUInt32BE(header.height, 4);
  start.set([header.depth, header.kind, 0, 0, interlace], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const parts = [
    signature,
    pngChunk("IHDR", start),
    ...chunks,
    pngChunk("IDAT", deflateSync(rows)),
    pngChunk("IEND", Buffer.of()),
  ];
  return new Uint8Array(Buffer.concat(parts));
}

export function pngChunk(name: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(name, "latin1"), data]);
  const result = Buffer.alloc(body.length + 8);
  result.writeUInt32BE(data.length, 0);
  result.set(body, 4);
  result.writeUInt32BE(crc32(body), result.length - 4);
  return result;
}
