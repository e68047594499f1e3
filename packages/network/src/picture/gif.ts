/**
 * Reads the first frame of GIF files. Bounded: no byte outside the file is read, and no more pixels are made than the frame has. Problems
 * are RangeErrors.
 */
import { elementAt } from "@nnhal/operations";
import { checkSize, onWhite, type Picture } from "./picture.ts";

const TRAILER = 0x3b;
const EXTENSION = 0x21;
const IMAGE = 0x2c;
const GRAPHIC_CONTROL = 0xf9;

/** Reads a GIF file. What the first frame leaves free is transparent, and so becomes white. */
export function readGif(bytes: Uint8Array): Picture {
  const at = (place: number) => {
    if (place >= bytes.length) throw new RangeError(`it ends after ${bytes.length} bytes`);
    return elementAt(bytes, place);
  };
  const short = (place: number) => at(place) | (at(place + 1) << 8);
  const [width, height] = [short(6), short(8)];
  checkSize(width, height);
  const table = (place: number, flags: number) => ({
    start: place,
    colours: (flags & 0x80) === 0 ? 0 : 2 << (flags & 7),
  });
  const common = table(13, at(10));
  let transparent = -1;
  for (let place = 13 + 3 * common.colours; at(place) !== TRAILER; ) {
    if (at(place) === EXTENSION) {
      if (at(place + 1) === GRAPHIC_CONTROL && (at(place + 3) & 1) === 1) transparent = at(place + 6);
      place = endOfBlocks(at, place + 2);
      continue;
    }
    if (at(place) !== IMAGE) throw new RangeError(`byte ${place} is ${at(place)}, which begins no part of a GIF file`);
    const [left, top, frameWidth, frameHeight] = [
      short(place + 1),
      short(place + 3),
      short(place + 5),
      short(place + 7),
    ];
    const flags = at(place + 9);
    const own = table(place + 10, flags);
    const palette = own.colours > 0 ? own : common;
    const data = place + 10 + 3 * own.colours;
    if (left + frameWidth > width || top + frameHeight > height) {
      throw new RangeError(
        `its frame of ${frameWidth} x ${frameHeight} at ${left}, ${top} is larger than ${width} x ${height}`,
      );
    }
    const indexes = unpack(at, data, frameWidth * frameHeight);
    const rgba = new Uint8Array(width * height * 4);
    const rows = rowsOf(frameHeight, (flags & 0x40) !== 0);
    for (const [row, y] of rows.entries()) {
      for (let x = 0; x < frameWidth; x++) {
        const index = elementAt(indexes, row * frameWidth + x);
        if (index === transparent) continue;
        if (index >= palette.colours)
          throw new RangeError(`a pixel has colour ${index} of a palette of ${palette.colours}`);
        const to = ((top + y) * width + left + x) * 4;
        for (let channel = 0; channel < 3; channel++) rgba[to + channel] = at(palette.start + 3 * index + channel);
        rgba[to + 3] = 255;
      }
    }
    return onWhite(width, height, rgba);
  }
  throw new RangeError("it has no frame");
}

type ByteAt = (place: number) => number;

/** Where the blocks that begin at a place end. */
function endOfBlocks(at: ByteAt, start: number): number {
  let place = start;
  while (at(place) !== 0) place += at(place) + 1;
  return place + 1;
}

/** The rows of the frame in the order in which they are stored. */
function rowsOf(height: number, isInterlaced: boolean): number[] {
  const passes = isInterlaced
    ? ([
        [0, 8],
        [4, 8],
        [2, 4],
        [1, 2],
      ] as const)
    : ([[0, 1]] as const);
  const rows: number[] = [];
  for (const [first, step] of passes) for (let row = first; row < height; row += step) rows.push(row);
  return rows;
}

const MOST_CODES = 4096;

/** Unpacks LZW codes into `count` bytes. */
function unpack(at: ByteAt, start: number, count: number): Uint8Array {
  const least = at(start);
  if (least < 1 || least > 8) throw new RangeError(`its codes begin with ${least} bits, not 1 to 8`);
  const clear = 1 << least;
  const prefix = new Uint16Array(MOST_CODES);
  const last = new Uint8Array(MOST_CODES);
  const length = new Uint16Array(MOST_CODES);
  for (let code = 0; code < clear; code++) {
    last[code] = code;
    length[code] = 1;
  }
  const result = new Uint8Array(count);
  let done = 0;
  let [place, blockEnd] = [start + 1, start + 1];
  let [bits, held] = [0, 0];
  let [next, size, before] = [clear + 2, least + 1, -1];
  while (done < count) {
    while (held < size) {
      if (place === blockEnd) {
        const block = at(place);
        if (block === 0) throw new RangeError(`its pixels end after ${done} of ${count}`);
        place += 1;
        blockEnd = place + block;
      }
      bits |= at(place++) << held;
      held += 8;
    }
    const code = bits & ((1 << size) - 1);
    bits >>>= size;
    held -= size;
    if (code === clear) {
      [next, size, before] = [clear + 2, least + 1, -1];
      continue;
    }
    if (code === clear + 1) throw new RangeError(`its pixels end after ${done} of ${count}`);
    if (code > next || (code === next && before < 0) || (code > clear && before < 0)) {
      throw new RangeError(`its pixels have the code ${code}, which is not defined yet`);
    }
    // A code that is being defined is the one before, and its first byte again.
    const known = code === next ? before : code;
    const size1 = elementAt(length, known);
    let first = known;
    for (let to = done + size1 - 1; to >= done; to--) {
      if (to < count) result[to] = elementAt(last, first);
      if (to > done) first = elementAt(prefix, first);
    }
    const firstByte = elementAt(last, first);
    done += size1;
    if (code === next && done < count) result[done++] = firstByte;
    if (before >= 0 && next < MOST_CODES) {
      prefix[next] = before;
      last[next] = firstByte;
      length[next] = elementAt(length, before) + 1;
      next += 1;
      if (next === 1 << size && size < 12) size += 1;
    }
    before = code;
  }
  return result;
}
