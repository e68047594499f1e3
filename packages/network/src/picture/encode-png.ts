/**
 * Writes PNG files, with nothing but what Node.js and browsers have in common.
 */
import { elementAt } from "@nnhal/operations";
import { type PictureSource, picture } from "./load-picture.ts";

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const TRUE_COLOUR = 2;

/** The bytes of a PNG file, 8 bits each for red, green and blue, of anything that `picture` takes. Rejects with a NetworkError. */
export async function encodePng(source: PictureSource): Promise<Uint8Array> {
  const { width, height, data } = await picture(source);
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  header.set([8, TRUE_COLOUR, 0, 0, 0], 8);
  // Each row begins with the number of its filter: none.
  const rows = new Uint8Array(height * (1 + 3 * width));
  for (let y = 0; y < height; y++) rows.set(data.subarray(y * width * 3, (y + 1) * width * 3), y * (1 + 3 * width) + 1);
  const parts = [
    Uint8Array.from(SIGNATURE),
    chunk("IHDR", header),
    chunk("IDAT", await deflate(rows)),
    chunk("IEND", new Uint8Array()),
  ];
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

async function deflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const packed = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate"));
  return new Uint8Array(await new Response(packed).arrayBuffer());
}

function chunk(kind: string, data: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(data.length + 12);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, data.length);
  bytes.set(
    [...kind].map((letter) => letter.charCodeAt(0)),
    4,
  );
  bytes.set(data, 8);
  view.setUint32(data.length + 8, crc(bytes.subarray(4, data.length + 8)));
  return bytes;
}

let table: Uint32Array | undefined;

/** The checksum of PNG, CRC-32. */
function crc(bytes: Uint8Array): number {
  table ??= Uint32Array.from({ length: 256 }, (_, byte) => {
    let rest = byte;
    for (let bit = 0; bit < 8; bit++) rest = (rest >>> 1) ^ (rest & 1 ? 0xedb8_8320 : 0);
    return rest;
  });
  let rest = 0xffff_ffff;
  for (const byte of bytes) rest = (rest >>> 8) ^ elementAt(table, (rest ^ byte) & 255);
  return ~rest >>> 0;
}
