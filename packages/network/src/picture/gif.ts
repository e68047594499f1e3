/**
 * Reads the first frame of GIF files; it is loaded when there is one. Bounded: no byte outside the file is read, and no more pixels are made
 * than the frame has. Problems are RangeErrors.
 */
import { elementAt } from "@nnhal/operations";
import { nextTurn } from "@nnhal/utils/time";
import type { Picture } from "./picture.ts";

const TRAILER = 0x3b;
const EXTENSION = 0x21;
const IMAGE = 0x2c;
const GRAPHIC_CONTROL = 0xf9;

/** Pixels between two turns of the event loop: a frame of 100 megapixels takes more than a second. */
const PIXELS_BETWEEN_PAUSES = 2 ** 22;

/** Reads a GIF file, with pauses. What the first frame leaves free is transparent, and so becomes white. */
export async function readGif(bytes: Uint8Array): Promise<Picture> {
  const at = (place: number) => {
    if (place >= bytes.length) throw new RangeError(`it ends after ${bytes.length} bytes`);
    return elementAt(bytes, place);
  };
  const short = (place: number) => at(place) | (at(place + 1) << 8);
  const [width, height] = [short(6), short(8)];
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
    const indexes = await unpack(at, data, frameWidth * frameHeight);
    const colours = bytes.subarray(palette.start, palette.start + 3 * palette.colours);
    const result = new Uint8Array(width * height * 3).fill(255);
    let from = 0;
    let pauseAt = PIXELS_BETWEEN_PAUSES;
    for (const y of rowsOf(frameHeight, (flags & 0x40) !== 0)) {
      if (from >= pauseAt) {
        pauseAt = from + PIXELS_BETWEEN_PAUSES;
        await nextTurn();
      }
      let to = ((top + y) * width + left) * 3;
      for (let x = 0; x < frameWidth; x++, to += 3) {
        const index = indexes[from++] ?? 0;
        if (index === transparent) continue;
        const colour = 3 * index;
        if (colour + 3 > colours.length)
          throw new RangeError(`a pixel has colour ${index} of a palette of ${palette.colours}`);
        result[to] = colours[colour] ?? 0;
        result[to + 1] = colours[colour + 1] ?? 0;
        result[to + 2] = colours[colour + 2] ?? 0;
      }
    }
    return { width, height, data: result };
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

/** Unpacks LZW codes into `count` bytes. A code that is not a byte stands for bytes that have been unpacked before. */
async function unpack(at: ByteAt, start: number, count: number): Promise<Uint8Array> {
  const least = at(start);
  if (least < 1 || least > 8) throw new RangeError(`its codes begin with ${least} bits, not 1 to 8`);
  const clear = 1 << least;
  // Where in the result the bytes of a code begin, and how many they are.
  const places = new Uint32Array(MOST_CODES);
  const lengths = new Uint16Array(MOST_CODES);
  const result = new Uint8Array(count);
  let done = 0;
  let [place, blockEnd] = [start + 1, start + 1];
  let [bits, held] = [0, 0];
  let [next, size] = [clear + 2, least + 1];
  // The bytes of the code before: none after a clear code.
  let [beforePlace, beforeLength] = [0, 0];
  let pauseAt = PIXELS_BETWEEN_PAUSES;
  while (done < count) {
    if (done >= pauseAt) {
      pauseAt = done + PIXELS_BETWEEN_PAUSES;
      await nextTurn();
    }
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
      next = clear + 2;
      size = least + 1;
      beforeLength = 0;
      continue;
    }
    if (code === clear + 1) throw new RangeError(`its pixels end after ${done} of ${count}`);
    if (code > next || (code > clear && beforeLength === 0))
      throw new RangeError(`its pixels have the code ${code}, which is not defined yet`);
    if (beforeLength > 0 && next < MOST_CODES) {
      // The bytes of the code before, and the first of this one, which follows them.
      places[next] = beforePlace;
      lengths[next] = beforeLength + 1;
      next++;
      if (next === 1 << size && size < 12) size++;
    }
    beforePlace = done;
    if (code < clear) {
      beforeLength = 1;
      result[done++] = code;
      continue;
    }
    const from = places[code] ?? 0;
    beforeLength = lengths[code] ?? 0;
    const end = Math.min(count, done + beforeLength);
    // Forwards: a code that has just been defined overlaps what it becomes.
    for (let byte = from; done < end; byte++) result[done++] = result[byte] ?? 0;
  }
  return result;
}
