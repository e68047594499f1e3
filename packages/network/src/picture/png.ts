/**
 * Reads PNG files of every kind: colour types, depths, palettes, transparency, interlacing.
 */
import { elementAt } from "@nnhal/operations";
import { joinBytes } from "../bytes.ts";
import { blend, type Picture } from "./picture.ts";

/** Colour types: samples in a pixel, and the depths that they may have. */
const kinds: Readonly<Record<number, { readonly samples: number; readonly depths: readonly number[] }>> = {
  0: { samples: 1, depths: [1, 2, 4, 8, 16] },
  2: { samples: 3, depths: [8, 16] },
  3: { samples: 1, depths: [1, 2, 4, 8] },
  4: { samples: 2, depths: [8, 16] },
  6: { samples: 4, depths: [8, 16] },
};
const COLOUR = 2;
const PALETTE = 3;
const GREY_ALPHA = 4;
const COLOUR_ALPHA = 6;

interface Header {
  readonly width: number;
  readonly height: number;
  readonly depth: number;
  readonly kind: number;
  readonly samples: number;
  readonly isInterlaced: boolean;
}

/** A file without its packing. */
interface Parts {
  readonly header: Header;
  /** Red, green and blue of each colour. */
  readonly palette: Uint8Array;
  /** Of a palette the alpha of each colour, else the samples of the colour that is transparent. */
  readonly transparency: Uint8Array;
  readonly packed: Uint8Array;
}

/** Platform functions that the PNG reader needs. */
export interface Unpacking {
  /** Unpacks zlib's format. Throws an Error if there are more bytes than that. */
  inflate(packed: Uint8Array, most: number): Uint8Array;
  crc32(bytes: Uint8Array): number;
}

/** Width and height. Throws a RangeError if the file does not begin with them. */
export function pngSize(bytes: Uint8Array): readonly [width: number, height: number] {
  if (bytes.length < 24) throw new RangeError(`it ends after ${bytes.length} bytes, in the header`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return [view.getUint32(16), view.getUint32(20)];
}

/** Reads a file. Throws an Error that says what is wrong with it. */
export function readPng(bytes: Uint8Array, { inflate, crc32 }: Unpacking): Picture {
  const parts = partsOf(bytes, crc32);
  const { width, height, isInterlaced } = parts.header;
  const passes = (isInterlaced ? interlacing : [[0, 0, 1, 1] as const])
    .map(([left, top, across, down]) => ({
      ...{ left, top, across, down },
      columns: Math.max(0, Math.ceil((width - left) / across)),
      rows: Math.max(0, Math.ceil((height - top) / down)),
    }))
    .filter(({ columns, rows }) => columns > 0 && rows > 0);
  const lengthOf = (columns: number) => Math.ceil((columns * parts.header.samples * parts.header.depth) / 8);
  const needed = passes.reduce((sum, { columns, rows }) => sum + rows * (1 + lengthOf(columns)), 0);
  const unpacked = inflate(parts.packed, needed + SLACK);
  if (unpacked.length < needed) throw new RangeError(`its pixels end after ${unpacked.length} of ${needed} bytes`);
  const data = new Uint8Array(width * height * 3);
  const paint = painterOf(parts, data);
  const step = Math.max(1, (parts.header.samples * parts.header.depth) >> 3);
  let at = 0;
  for (const { left, top, across, down, columns, rows } of passes) {
    const length = lengthOf(columns);
    let above: Uint8Array = new Uint8Array(length);
    for (let y = 0; y < rows; y++) {
      const row = unpacked.subarray(at + 1, at + 1 + length);
      unfilter(elementAt(unpacked, at), row, above, step);
      paint(row, columns, 3 * ((top + y * down) * width + left), 3 * across);
      above = row;
      at += 1 + length;
    }
  }
  return { width, height, data };
}

/** Bytes behind the last pixel, which some files have, are ignored up to this number. */
const SLACK = 65_536;

/** The seven passes of an interlaced file: first column and row, and how far it is to the next. */
const interlacing = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

function partsOf(bytes: Uint8Array, crc32: Unpacking["crc32"]): Parts {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let header: Header | undefined;
  let palette: Uint8Array = new Uint8Array();
  let transparency: Uint8Array = new Uint8Array();
  const packed: Uint8Array[] = [];
  for (let at = 8; ; ) {
    if (at + 12 > bytes.length) throw new RangeError(`it ends after ${bytes.length} bytes, before its last part`);
    const end = at + 8 + view.getUint32(at);
    const name = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    const isCritical = (elementAt(bytes, at + 4) & 0x20) === 0;
    if (end + 4 > bytes.length)
      throw new RangeError(`it ends after ${bytes.length} bytes, in a part of ${end + 4 - at}`);
    const isWhole = crc32(bytes.subarray(at + 4, end)) === view.getUint32(end);
    if (isCritical && !isWhole) throw new RangeError(`its part at byte ${at} is damaged: the checksum is wrong`);
    const data = bytes.subarray(at + 8, end);
    if (header === undefined) {
      if (name !== "IHDR") throw new RangeError("it does not begin with its size");
      header = headerOf(data);
    } else if (name === "PLTE") palette = data;
    else if (name === "tRNS" && isWhole) transparency = data;
    else if (name === "IDAT") packed.push(data);
    else if (name === "IEND") return { header, palette, transparency, packed: joinBytes(packed) };
    else if (isCritical) throw new RangeError(`its part at byte ${at} is of an unknown kind`);
    at = end + 4;
  }
}

function headerOf(data: Uint8Array): Header {
  if (data.length !== 13) throw new RangeError(`its header has ${data.length} bytes, not 13`);
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const [width, height] = [view.getUint32(0), view.getUint32(4)];
  const [depth = 0, kind = 0, compression, filter, interlace = 0] = data.subarray(8);
  const { samples, depths } = kinds[kind] ?? { samples: 0, depths: [] };
  if (!depths.includes(depth)) throw new RangeError(`it has ${depth} bits for each sample of the colour type ${kind}`);
  if (compression !== 0 || filter !== 0 || interlace > 1)
    throw new RangeError(`its compression is ${compression}, its filter ${filter}, its interlacing ${interlace}`);
  return { width, height, depth, kind, samples, isInterlaced: interlace === 1 };
}

/** Undoes the filter of a row. `step`: bytes from a sample to the same one of the pixel on its left. */
function unfilter(filter: number, row: Uint8Array, above: Uint8Array, step: number): void {
  const { length } = row;
  // The loops are the time that a file takes. What lies to the left of the first pixel counts as 0.
  if (filter === 1) {
    for (let at = step; at < length; at++) row[at] = (row[at] ?? 0) + (row[at - step] ?? 0);
  } else if (filter === 2) {
    for (let at = 0; at < length; at++) row[at] = (row[at] ?? 0) + (above[at] ?? 0);
  } else if (filter === 3) {
    for (let at = 0; at < step; at++) row[at] = (row[at] ?? 0) + ((above[at] ?? 0) >> 1);
    for (let at = step; at < length; at++) row[at] = (row[at] ?? 0) + (((row[at - step] ?? 0) + (above[at] ?? 0)) >> 1);
  } else if (filter === 4) {
    for (let at = 0; at < step; at++) row[at] = (row[at] ?? 0) + (above[at] ?? 0);
    for (let at = step; at < length; at++)
      row[at] = (row[at] ?? 0) + nearest(row[at - step] ?? 0, above[at] ?? 0, above[at - step] ?? 0);
  } else if (filter !== 0) throw new RangeError(`a row has the filter ${filter}`);
}

/** The filter of Paeth: the one of three neighbours that is nearest to left + up - corner. */
function nearest(left: number, up: number, corner: number): number {
  const fromLeft = Math.abs(up - corner);
  const fromUp = Math.abs(left - corner);
  const fromCorner = Math.abs(left + up - 2 * corner);
  if (fromLeft <= fromUp && fromLeft <= fromCorner) return left;
  return fromUp <= fromCorner ? up : corner;
}

/** Puts the pixels of a row into the picture, from byte `to` on, `step` bytes apart, blended with white. */
type Painter = (row: Uint8Array, columns: number, to: number, step: number) => void;

function painterOf(parts: Parts, data: Uint8Array): Painter {
  const { depth, kind, samples } = parts.header;
  // A sample of up to 8 bits stands for one of 256 values, for which colours are computed once.
  if (samples === 1 && depth <= 8)
    return tablePainter(depth, kind === PALETTE ? paletteOf(parts) : greysOf(parts), data);
  return samplesPainter(parts, data);
}

/** Red, green and blue of each value of a sample; fewer than there are values in a palette that is too short. */
type Colours = Uint8Array;

function paletteOf({ palette, transparency }: Parts): Colours {
  const colours = Math.floor(palette.length / 3);
  return Uint8Array.from({ length: 3 * colours }, (_, at) => {
    return blend(elementAt(palette, at), transparency[Math.floor(at / 3)] ?? 255);
  });
}

function greysOf({ header: { depth }, transparency }: Parts): Colours {
  const most = 2 ** depth - 1;
  const clear = transparency.length < 2 ? -1 : elementAt(transparency, 1) & most;
  return Uint8Array.from({ length: 3 * (most + 1) }, (_, at) => {
    const value = Math.floor(at / 3);
    return value === clear ? 255 : Math.round((value * 255) / most);
  });
}

function tablePainter(depth: number, colours: Colours, data: Uint8Array): Painter {
  const mask = 2 ** depth - 1;
  return (row, columns, start, step) => {
    for (let x = 0, bit = 0, to = start; x < columns; x++, bit += depth, to += step) {
      const value = ((row[bit >> 3] ?? 0) >> (8 - depth - (bit & 7))) & mask;
      const from = 3 * value;
      if (from >= colours.length) throw new RangeError(`its palette has no colour ${value}`);
      data[to] = colours[from] ?? 0;
      data[to + 1] = colours[from + 1] ?? 0;
      data[to + 2] = colours[from + 2] ?? 0;
    }
  };
}

/** Of files whose pixels have several samples, or one of 16 bits. */
function samplesPainter({ header: { depth, kind, samples }, transparency }: Parts, data: Uint8Array): Painter {
  const bytes = depth >> 3;
  const hasColour = kind === COLOUR || kind === COLOUR_ALPHA;
  const hasAlpha = kind === GREY_ALPHA || kind === COLOUR_ALPHA;
  const [toGreen, toBlue, toAlpha] = [hasColour ? bytes : 0, hasColour ? 2 * bytes : 0, (samples - 1) * bytes];
  // The transparent colour has 16 bits for each sample, of which the last count.
  const isClearing = !hasAlpha && transparency.length >= 2 * samples;
  const clear = Array.from({ length: samples * bytes }, (_, at) => {
    return transparency[2 * Math.floor(at / bytes) + (at % bytes) + 2 - bytes] ?? 0;
  });
  const isClear = (row: Uint8Array, from: number) => clear.every((byte, place) => byte === row[from + place]);
  const sampleAt: SampleAt = bytes === 1 ? (row, at) => row[at] ?? 0 : deepSampleAt;
  return (row, columns, start, step) => {
    for (let x = 0, from = 0, to = start; x < columns; x++, from += samples * bytes, to += step) {
      data[to] = sampleAt(row, from);
      data[to + 1] = sampleAt(row, from + toGreen);
      data[to + 2] = sampleAt(row, from + toBlue);
      const alpha = hasAlpha ? sampleAt(row, from + toAlpha) : isClearing && isClear(row, from) ? 0 : 255;
      if (alpha === 255) continue;
      for (let channel = to; channel < to + 3; channel++) data[channel] = blend(data[channel] ?? 0, alpha);
    }
  };
}

type SampleAt = (row: Uint8Array, at: number) => number;

/** A sample of 16 bits, as one of 8. */
const deepSampleAt: SampleAt = (row, at) => Math.round((((row[at] ?? 0) << 8) | (row[at + 1] ?? 0)) / 257);
