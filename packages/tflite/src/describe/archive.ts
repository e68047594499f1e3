/**
 * Reads a ZIP archive behind the FlatBuffer of a model. Every offset is checked before use, and a file that unpacks to more than it says
 * is refused.
 */
import { Inflate } from "fflate";
import { ensure, fail, quote } from "../error.ts";
import { type Directory, entry, local, type PackedFile, viewOf } from "./archive-directory.ts";

const PATH = "packed files";

/** More files than any model comes with. */
const MOST_FILES = 1000;

/** Most bytes of a packed file: vocabularies and lists of labels have far fewer. */
const MOST_BYTES = 2 ** 26;

/** Compressed bytes that are unpacked at once: they become at most 1032 times as many. */
const PORTION = 2 ** 14;

const UTF8_FLAG = 0x0800;
export const STORED = 0;
export const DEFLATED = 8;

/** A file in an archive. */
export interface Entry extends PackedFile {
  readonly method: number;
  readonly compressed: number;
  /** Where its local record is. */
  readonly at: number;
}

/** The entries of an archive. */
export function entriesOf(bytes: Uint8Array, directory: Directory): Entry[] {
  ensure(directory.count <= MOST_FILES, PATH, () => `there are ${directory.count}, more than ${MOST_FILES}`);
  const view = viewOf(bytes);
  const entries: Entry[] = [];
  let { at } = directory;
  for (let i = 0; i < directory.count; i++) {
    const place = `${PATH}[${i}]`;
    ensure(at + entry.size <= bytes.length, place, () => `its entry at ${at} lies outside the file`);
    ensure(view.getUint32(at, true) === entry.signature, place, () => `there is no entry at ${at}`);
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((offset) => view.getUint16(at + offset, true));
    const nameEnd = at + entry.size + (nameLength ?? 0);
    ensure(nameEnd <= bytes.length, place, () => "its name lies outside the file");
    entries.push({
      name: textOf(bytes.slice(at + entry.size, nameEnd), (view.getUint16(at + 8, true) & UTF8_FLAG) !== 0),
      method: view.getUint16(at + 10, true),
      compressed: view.getUint32(at + 20, true),
      size: view.getUint32(at + 24, true),
      at: view.getUint32(at + 42, true),
    });
    at = nameEnd + (extraLength ?? 0) + (commentLength ?? 0);
  }
  return entries;
}

/** A name: UTF-8 if the entry says so, else one character a byte. */
function textOf(bytes: Uint8Array, isUtf8: boolean): string {
  return isUtf8 ? new TextDecoder().decode(bytes) : Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}

/** The content of a packed file, which may have `most` bytes. */
export function contentOf(
  bytes: Uint8Array,
  { name, method, compressed, size, at }: Entry,
  most = MOST_BYTES,
): Uint8Array {
  const place = `${PATH}: ${quote(name)}`;
  const limit = Math.min(most, MOST_BYTES);
  ensure(size <= limit, place, () => `${size} bytes are more than the most, ${limit}`);
  const view = viewOf(bytes);
  const isLocal = at + local.size <= bytes.length && view.getUint32(at, true) === local.signature;
  ensure(isLocal, place, () => `there is no file at ${at}`);
  const start = at + local.size + view.getUint16(at + 26, true) + view.getUint16(at + 28, true);
  ensure(start + compressed <= bytes.length, place, () => "its content lies outside the file");
  const data = bytes.subarray(start, start + compressed);
  if (method === DEFLATED) return inflate(data, size, place);
  ensure(method === STORED, place, () => `compression method ${method} is not supported`);
  ensure(size === compressed, place, () => `${compressed} stored bytes are not ${size}`);
  return data.slice();
}

/** Unpacks in portions, so that data which become more than they should are noticed early. */
export function inflate(data: Uint8Array, size: number, place: string): Uint8Array {
  const content = new Uint8Array(size);
  let filled = 0;
  const stream = new Inflate((chunk) => {
    ensure(filled + chunk.length <= size, place, () => `its content is more than the ${size} bytes that it should be`);
    content.set(chunk, filled);
    filled += chunk.length;
  });
  unpackOrThrow(place, () => {
    for (let at = 0; at < data.length; at += PORTION) {
      stream.push(data.subarray(at, at + PORTION), at + PORTION >= data.length);
    }
  });
  ensure(filled === size, place, () => `its content has ${filled} bytes, not ${size}`);
  return content;
}

/** At most `count` bytes that compressed data begin with; `data` may be their start. */
export function inflateStart(data: Uint8Array, count: number, place: string): Uint8Array {
  const start = new Uint8Array(count);
  let filled = 0;
  const stream = new Inflate((chunk) => {
    const more = chunk.subarray(0, count - filled);
    start.set(more, filled);
    filled += more.length;
  });
  unpackOrThrow(place, () => stream.push(data, false));
  return start.subarray(0, filled);
}

/** Throws a TfliteError for data that are broken. */
function unpackOrThrow(place: string, unpack: () => void): void {
  try {
    unpack();
  } catch (error) {
    // A defect of the compressed data has a code.
    if (!(error instanceof Error) || !("code" in error)) throw error;
    fail(place, `its content is broken: ${error.message}`);
  }
}
