/**
 * Facts that a JPEG file states before anything is decoded: its size, and how many scans its pixels have.
 */

/** The header of a JPEG file. */
export interface JpegHeader {
  readonly width: number;
  readonly height: number;
  /** 1 of grey, 3 of colour, 4 of inks. */
  readonly components: number;
  /** Number of times that a decoder goes over the pixels: once for each scan, of a progressive file about 10. */
  readonly scans: number;
  /** Pixels that a decoder goes over in all scans, in whole blocks. */
  readonly work: number;
  /** True if the file ends with its marker. */
  readonly isEnded: boolean;
}

const [START_OF_SCAN, END] = [0xda, 0xd9];

/** Reads the markers of a file to its end. Throws a RangeError if there is no size, or one of a kind that is not decoded. */
export function readJpegHeader(bytes: Uint8Array): JpegHeader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let frame: Frame | undefined;
  let scans = 0;
  let isEnded = false;
  // The first marker follows that of the start.
  for (let at = nextMarker(bytes, 2); at + 1 < bytes.length; at = nextMarker(bytes, at)) {
    const marker = bytes[at + 1] ?? 0;
    at += 2;
    if (marker === END) {
      isEnded = true;
      break;
    }
    if (at + 2 > bytes.length) break;
    if (marker === START_OF_SCAN) scans++;
    if (isFrame(marker)) {
      if (frame !== undefined) throw new RangeError("it has two sizes");
      frame = readFrame(marker, view, at);
    }
    at += Math.max(2, view.getUint16(at));
  }
  if (frame === undefined) throw new RangeError("it has no size");
  const { width, height, components, blockWidth, blockHeight } = frame;
  const area = Math.ceil(width / blockWidth) * blockWidth * Math.ceil(height / blockHeight) * blockHeight;
  return { width, height, components, scans, work: area * Math.max(1, scans), isEnded };
}

/** Where the next marker stands: 0xff and a number that is none of those within pixels. */
function nextMarker(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1] ?? 0;
    const isRestart = next >= 0xd0 && next <= 0xd7;
    if (next !== 0 && next !== 0xff && !isRestart) return at;
  }
  return bytes.length;
}

function isFrame(marker: number): boolean {
  // Those between that begin no frame: tables of Huffman, extensions, and conditions of arithmetic coding.
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

interface Frame {
  readonly width: number;
  readonly height: number;
  readonly components: number;
  /** Pixels of a block of all components. */
  readonly blockWidth: number;
  readonly blockHeight: number;
}

function readFrame(marker: number, view: DataView, at: number): Frame {
  if (at + 8 > view.byteLength) throw new RangeError(`it ends after ${view.byteLength} bytes, in the header`);
  if (marker > 0xc2) throw new RangeError(`its kind of compression (${marker - 0xc0}) is not supported`);
  const precision = view.getUint8(at + 2);
  if (precision !== 8) throw new RangeError(`its samples have ${precision} bits; 8 are supported`);
  const components = view.getUint8(at + 7);
  if (components !== 1 && components !== 3 && components !== 4)
    throw new RangeError(`it has ${components} components; 1, 3 and 4 are supported`);
  if (at + 8 + 3 * components > view.byteLength)
    throw new RangeError(`it ends after ${view.byteLength} bytes, in the header`);
  const factors = Array.from({ length: components }, (_, place) => view.getUint8(at + 9 + 3 * place));
  return {
    height: view.getUint16(at + 3),
    width: view.getUint16(at + 5),
    components,
    blockWidth: 8 * Math.max(1, ...factors.map((factor) => factor >> 4)),
    blockHeight: 8 * Math.max(1, ...factors.map((factor) => factor & 15)),
  };
}
