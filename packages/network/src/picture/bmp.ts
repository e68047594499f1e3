/**
 * Reads BMP files: 1, 4, 8, 16, 24 and 32 bits a pixel without compression, all header versions, rows in either order.
 * Bounded: the file's length is checked before a pixel is read. Problems are RangeErrors.
 */
import { elementAt } from "@nnhal/operations";
import { onWhite, type Picture } from "./picture.ts";

const FILE_HEADER = 14;
const BITFIELDS = 3;
const ALPHA_BITFIELDS = 6;

interface Header {
  readonly width: number;
  readonly height: number;
  readonly isTopDown: boolean;
  readonly bits: number;
  readonly compression: number;
  /** Where the palette starts, how many colours it has and how many bytes each takes. */
  readonly palette: { readonly start: number; readonly colours: number; readonly entry: number };
  readonly pixels: number;
  readonly size: number;
}

/** Width and height. Throws a RangeError if the header is not one. */
export function bmpSize(bytes: Uint8Array): readonly [width: number, height: number] {
  const { width, height } = readHeader(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  return [width, height];
}

/** Reads a BMP file. */
export function readBmp(bytes: Uint8Array): Picture {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const header = readHeader(view);
  const { width, height, isTopDown, bits } = header;
  const rowBytes = Math.ceil((width * bits) / 32) * 4;
  need(bytes, header.pixels + rowBytes * height, "the pixels");
  const colourAt = colours(bytes, view, header);
  const rgba = new Uint8Array(width * height * 4);
  for (let y = 0; y < height; y++) {
    const row = header.pixels + rowBytes * (isTopDown ? y : height - 1 - y);
    for (let x = 0; x < width; x++) colourAt(row, x, rgba, (y * width + x) * 4);
  }
  return onWhite(width, height, rgba);
}

function need(bytes: Uint8Array, end: number, what: string): void {
  if (end > bytes.length) throw new RangeError(`${what} end at byte ${end}, the file at ${bytes.length}`);
}

function readHeader(view: DataView): Header {
  if (view.byteLength < FILE_HEADER + 12) throw new RangeError(`it ends after ${view.byteLength} bytes, in the header`);
  const size = view.getUint32(14, true);
  const isOld = size === 12;
  if (!isOld && size < 40) throw new RangeError(`its header has ${size} bytes, which is not a known version`);
  if (FILE_HEADER + size > view.byteLength)
    throw new RangeError(`it ends after ${view.byteLength} bytes, in the header`);
  const signedHeight = isOld ? view.getUint16(20, true) : view.getInt32(22, true);
  const bits = view.getUint16(isOld ? 24 : 28, true);
  const compression = isOld ? 0 : view.getUint32(30, true);
  const hasMasks = (compression === BITFIELDS || compression === ALPHA_BITFIELDS) && (bits === 16 || bits === 32);
  if (compression !== 0 && !hasMasks) throw new RangeError(`compression ${compression} is not supported`);
  if (![1, 4, 8, 16, 24, 32].includes(bits)) throw new RangeError(`${bits} bits a pixel are not supported`);
  const used = isOld ? 0 : view.getUint32(46, true);
  return {
    width: isOld ? view.getUint16(18, true) : view.getInt32(18, true),
    height: Math.abs(signedHeight),
    isTopDown: signedHeight < 0,
    bits,
    compression,
    palette: { start: FILE_HEADER + size, colours: used === 0 ? 1 << Math.min(bits, 8) : used, entry: isOld ? 3 : 4 },
    pixels: view.getUint32(10, true),
    size,
  };
}

/** Writes the colour of pixel x of the row that starts at a byte. */
type ColourAt = (row: number, x: number, rgba: Uint8Array, to: number) => void;

function colours(bytes: Uint8Array, view: DataView, header: Header): ColourAt {
  const { bits } = header;
  if (bits <= 8) return paletteColours(bytes, header);
  if (bits === 24) {
    return (row, x, rgba, to) => {
      const from = row + 3 * x;
      for (let channel = 0; channel < 3; channel++) rgba[to + channel] = elementAt(bytes, from + 2 - channel);
      rgba[to + 3] = 255;
    };
  }
  const channels = masksOf(bytes, view, header).map(channelOf);
  const pixelAt = bits === 16 ? view.getUint16.bind(view) : view.getUint32.bind(view);
  return (row, x, rgba, to) => {
    const pixel = pixelAt(row + (bits / 8) * x, true);
    for (const [channel, read] of channels.entries()) rgba[to + channel] = read(pixel);
  };
}

function paletteColours(bytes: Uint8Array, { bits, palette }: Header): ColourAt {
  const { start, colours: count, entry } = palette;
  if (count > 256) throw new RangeError(`its palette has ${count} colours where 256 are possible`);
  need(bytes, start + count * entry, "the colours of the palette");
  const perByte = 8 / bits;
  return (row, x, rgba, to) => {
    const byte = elementAt(bytes, row + Math.floor(x / perByte));
    const index = (byte >> (8 - bits * ((x % perByte) + 1))) & ((1 << bits) - 1);
    if (index >= count) throw new RangeError(`a pixel has colour ${index} of a palette of ${count}`);
    for (let channel = 0; channel < 3; channel++)
      rgba[to + channel] = elementAt(bytes, start + index * entry + 2 - channel);
    rgba[to + 3] = 255;
  };
}

/**
 * Which bits hold red, green, blue and alpha. Without masks in the file, 32 bits have no alpha: most programs write zeros
 * there and mean an opaque picture.
 */
function masksOf(bytes: Uint8Array, view: DataView, { bits, compression, size }: Header): readonly number[] {
  if (compression === 0) return bits === 16 ? [0x7c00, 0x3e0, 0x1f, 0] : [0xff0000, 0xff00, 0xff, 0];
  // Headers of 40 bytes are followed by the masks, longer ones contain them, at the same place.
  const hasAlpha = compression === ALPHA_BITFIELDS || size >= 56;
  need(bytes, FILE_HEADER + 40 + (hasAlpha ? 16 : 12), "the colour masks");
  const masks = [0, 4, 8].map((offset) => view.getUint32(FILE_HEADER + 40 + offset, true));
  return [...masks, hasAlpha ? view.getUint32(FILE_HEADER + 52, true) : 0];
}

/** Reads a channel as 0 to 255. A channel without bits is alpha that the file leaves out: opaque. */
function channelOf(mask: number, place: number): (pixel: number) => number {
  if (mask === 0) return () => (place === 3 ? 255 : 0);
  const shift = 31 - Math.clz32(mask & -mask);
  const most = mask >>> shift;
  return (pixel) => Math.round((((pixel & mask) >>> shift) * 255) / most);
}
