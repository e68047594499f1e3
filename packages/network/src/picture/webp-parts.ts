/**
 * The parts of a WebP file: its size, read before memory is taken for it, and the first frame of an animation.
 */
import { joinBytes } from "../bytes.ts";

/** A picture of a file, or of a frame, that a decoder reads. */
export interface WebpFrame {
  /** A file of one picture. */
  readonly file: Uint8Array;
  readonly left: number;
  readonly top: number;
}

/** Width and height. Throws a RangeError if the file says none. */
export function webpSize(bytes: Uint8Array): readonly [width: number, height: number] {
  if (bytes.length < 30) throw new RangeError(`it ends after ${bytes.length} bytes, in the header`);
  const view = viewOf(bytes);
  const kind = nameAt(bytes, 12);
  if (kind === "VP8X") return [of24Bits(view, 24) + 1, of24Bits(view, 27) + 1];
  return sizeOfPixels(kind, bytes, 20);
}

/** The size in front of pixels, whose data begin at a byte. */
function sizeOfPixels(kind: string, bytes: Uint8Array, at: number): readonly [width: number, height: number] {
  const view = viewOf(bytes);
  if (at + 10 > bytes.length) throw new RangeError(`it ends after ${bytes.length} bytes, in the header`);
  if (kind === "VP8 ") return [view.getUint16(at + 6, true) & 0x3fff, view.getUint16(at + 8, true) & 0x3fff];
  if (kind === "VP8L") {
    const bits = view.getUint32(at + 1, true);
    return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
  }
  throw new RangeError(`its first part is ${JSON.stringify(kind)}, which is not known`);
}

/** True if a file says that it is an animation. */
function isAnimated(bytes: Uint8Array): boolean {
  return nameAt(bytes, 12) === "VP8X" && ((bytes[20] ?? 0) & 2) !== 0;
}

/** The first frame of an animation, as a file of its own; a file of one picture as it is. Throws a RangeError if it has none. */
export function firstWebpFrame(bytes: Uint8Array): WebpFrame {
  if (!isAnimated(bytes)) return { file: bytes, left: 0, top: 0 };
  const [width, height] = webpSize(bytes);
  const frame = partNamed(bytes, ["ANMF"], 12, bytes.length);
  if (frame === undefined || frame.end - frame.start < 16) throw new RangeError("it is an animation without a frame");
  const view = viewOf(bytes);
  const at = frame.start;
  const [left, top] = [2 * of24Bits(view, at), 2 * of24Bits(view, at + 3)];
  const size = [of24Bits(view, at + 6) + 1, of24Bits(view, at + 9) + 1] as const;
  const text = `its first frame of ${size[0]} x ${size[1]} at ${left}, ${top}`;
  if (left + size[0] > width || top + size[1] > height)
    throw new RangeError(`${text} is larger than ${width} x ${height}`);
  const pixels = partNamed(bytes, ["VP8 ", "VP8L"], at + 16, frame.end);
  if (pixels === undefined) throw new RangeError(`${text} has no pixels`);
  const [ownWidth, ownHeight] = sizeOfPixels(pixels.name, bytes, pixels.start);
  if (ownWidth !== size[0] || ownHeight !== size[1])
    throw new RangeError(`${text} has pixels of ${ownWidth} x ${ownHeight}`);
  const alpha = pixels.name === "VP8 " ? partNamed(bytes, ["ALPH"], at + 16, pixels.start) : undefined;
  const parts = [alpha, pixels].filter((part) => part !== undefined);
  return {
    file: fileOf(
      size,
      parts.map((part) => bytes.subarray(part.start - 8, part.end)),
    ),
    left,
    top,
  };
}

interface Part {
  readonly name: string;
  /** The bytes of its data. */
  readonly start: number;
  readonly end: number;
}

/** The first part of one of some names, up to a byte. */
function partNamed(bytes: Uint8Array, names: readonly string[], from: number, to: number): Part | undefined {
  const view = viewOf(bytes);
  for (let at = from; at + 8 <= to; ) {
    const end = at + 8 + view.getUint32(at + 4, true);
    const name = nameAt(bytes, at);
    // A part that is cut short is left to the decoder, which refuses it.
    if (names.includes(name)) return { name, start: at + 8, end: Math.min(end, to) };
    at = end + ((end - at) % 2);
  }
  return undefined;
}

/** A file of one picture: its parts, the last of which has the pixels. */
function fileOf([width, height]: readonly [number, number], parts: readonly Uint8Array[]): Uint8Array {
  const head = new Uint8Array(30);
  const view = viewOf(head);
  const write = (text: string, at: number) => head.set(new TextEncoder().encode(text), at);
  const padded = parts.flatMap((part) => (part.length % 2 === 0 ? [part] : [part, new Uint8Array(1)]));
  write("RIFF", 0);
  view.setUint32(
    4,
    padded.reduce((sum, { length }) => sum + length, head.length - 8),
    true,
  );
  write("WEBPVP8X", 8);
  view.setUint32(16, 10, true);
  // The pixels without loss say themselves whether they have alpha.
  head[20] = HAS_ALPHA;
  for (const [at, extent] of [
    [24, width - 1],
    [27, height - 1],
  ] as const) {
    view.setUint16(at, extent & 0xffff, true);
    view.setUint8(at + 2, extent >> 16);
  }
  return joinBytes([head, ...padded]);
}

const HAS_ALPHA = 0x10;

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function nameAt(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}

function of24Bits(view: DataView, at: number): number {
  return view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
}
