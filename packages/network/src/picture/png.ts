/**
 * Reads PNG files of every kind: colour types, depths, palettes, transparency, interlacing.
 */
import { elementAt } from "@nnhal/operations";
import { joinBytes } from "../bytes.ts";
import { checkSize, type Picture } from "./picture.ts";

/** Colour types: samples in a pixel, and the depths that they may have. */
const kinds: Readonly<Record<number, { readonly samples: number; readonly depths: readonly number[] }>> = {
  0: { samples: 1, depths: [1, 2, 4, 8, 16] },
  2: { samples: 3, depths: [8, 16] },
  3: { samples: 1, depths: [1, 2, 4, 8] },
  4: { samples: 2, depths: [8, 16] },
  6: { samples: 4, depths: [8, 16] },
};
const GREY = 0;
const PALETTE = 3;
const GREY_ALPHA = 4;

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

/** What the platform does for a reader. */
export interface Unpacking {
  /** Unpacks zlib's format. Throws an Error if there are more bytes than that. */
  inflate(packed: Uint8Array, most: number): Uint8Array;
  crc32(bytes: Uint8Array): number;
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
  const paint = painter(parts, data);
  let at = 0;
  for (const { left, top, across, down, columns, rows } of passes) {
    const length = lengthOf(columns);
    let above: Uint8Array = new Uint8Array(length);
    for (let y = 0; y < rows; y++) {
      const row = unpacked.subarray(at + 1, at + 1 + length);
      unfilter(elementAt(unpacked, at), row, above, Math.max(1, (parts.header.samples * parts.header.depth) >> 3));
      const start = (top + y * down) * width + left;
      for (let x = 0; x < columns; x++) paint(row, x, 3 * (start + x * across));
      above = row;
      at += 1 + length;
    }
  }
  return { width, height, data };
}

/** What some files have behind their last pixel does no harm. */
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
  checkSize(width, height);
  const [depth = 0, kind = 0, compression, filter, interlace = 0] = data.subarray(8);
  const { samples, depths } = kinds[kind] ?? { samples: 0, depths: [] };
  if (!depths.includes(depth)) throw new RangeError(`it has ${depth} bits for each sample of the colour type ${kind}`);
  if (compression !== 0 || filter !== 0 || interlace > 1)
    throw new RangeError(`its compression is ${compression}, its filter ${filter}, its interlacing ${interlace}`);
  return { width, height, depth, kind, samples, isInterlaced: interlace === 1 };
}

/** Undoes the filter of a row. `step`: bytes from a sample to the same one of the pixel on its left. */
function unfilter(filter: number, row: Uint8Array, above: Uint8Array, step: number): void {
  if (filter === 0) return;
  if (filter > 4) throw new RangeError(`a row has the filter ${filter}`);
  for (let at = 0; at < row.length; at++) {
    const left = at < step ? 0 : elementAt(row, at - step);
    const up = elementAt(above, at);
    let guess = left;
    if (filter === 2) guess = up;
    else if (filter === 3) guess = (left + up) >> 1;
    else if (filter === 4) guess = nearest(left, up, at < step ? 0 : elementAt(above, at - step));
    row[at] = elementAt(row, at) + guess;
  }
}

/** The filter of Paeth: the one of three neighbours that is nearest to left + up - corner. */
function nearest(left: number, up: number, corner: number): number {
  const [fromLeft, fromUp] = [Math.abs(up - corner), Math.abs(left - corner)];
  const fromCorner = Math.abs(left + up - 2 * corner);
  if (fromLeft <= fromUp && fromLeft <= fromCorner) return left;
  return fromUp <= fromCorner ? up : corner;
}

/** A function that puts the pixel at a place of a row to where it belongs in `data`, blended with white. */
function painter({ header, palette, transparency }: Parts, data: Uint8Array) {
  const { depth, kind, samples } = header;
  const most = 2 ** depth - 1;
  const sampleAt = sampleReader(depth);
  const isClear = transparency.length < 2 * samples ? undefined : clearColour(transparency, samples, most);
  const put = (to: number, alpha: number, red: number, green: number, blue: number) => {
    const blended = (colour: number) => Math.round((colour * alpha + 255 * (255 - alpha)) / 255);
    data[to] = blended(red);
    data[to + 1] = blended(green);
    data[to + 2] = blended(blue);
  };
  const scaled = (sample: number) => Math.round((sample * 255) / most);
  return (row: Uint8Array, x: number, to: number): void => {
    const at = x * samples;
    const first = sampleAt(row, at);
    if (kind === PALETTE) {
      const from = 3 * first;
      if (from + 3 > palette.length) throw new RangeError(`its palette has no colour ${first}`);
      put(
        to,
        transparency[first] ?? 255,
        elementAt(palette, from),
        elementAt(palette, from + 1),
        elementAt(palette, from + 2),
      );
    } else if (kind === GREY || kind === GREY_ALPHA) {
      const alpha = kind === GREY_ALPHA ? scaled(sampleAt(row, at + 1)) : isClear?.(first) ? 0 : 255;
      const grey = scaled(first);
      put(to, alpha, grey, grey, grey);
    } else {
      const [green, blue] = [sampleAt(row, at + 1), sampleAt(row, at + 2)];
      const alpha = samples === 4 ? scaled(sampleAt(row, at + 3)) : isClear?.(first, green, blue) ? 0 : 255;
      put(to, alpha, scaled(first), scaled(green), scaled(blue));
    }
  };
}

/** Whether samples are those of the transparent colour. */
function clearColour(transparency: Uint8Array, samples: number, most: number) {
  const clear = Array.from(
    { length: samples },
    (_, i) => ((elementAt(transparency, 2 * i) << 8) | elementAt(transparency, 2 * i + 1)) & most,
  );
  return (...colour: readonly number[]) => clear.every((sample, i) => sample === colour[i]);
}

function sampleReader(depth: number): (row: Uint8Array, index: number) => number {
  if (depth === 8) return elementAt;
  if (depth === 16) return (row, index) => (elementAt(row, 2 * index) << 8) | elementAt(row, 2 * index + 1);
  return (row, index) => {
    const bit = index * depth;
    return (elementAt(row, bit >> 3) >> (8 - depth - (bit & 7))) & (2 ** depth - 1);
  };
}
