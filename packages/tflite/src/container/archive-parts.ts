/** The parts of a `.task` file: the entries of a zip archive, and of those in it. */
import { DEFLATED, type Entry, entriesOf, inflate, inflateStart, STORED } from "../describe/archive.ts";
import { end, findEnd, local, MOST_COMMENT, viewOf } from "../describe/archive-directory.ts";
import { ensure, fail, quote } from "../error.ts";
import { mayHaveParts, type TfliteContainer, type TflitePart } from "./part.ts";

/** The remaining limits for listing a file. */
export interface Budget {
  /** Entries that were listed. */
  entries: number;
  /** Bytes of compressed archives that may still be unpacked. */
  unpacked: number;
}

/** Entries of an archive and those in it, together. */
const MOST_ENTRIES = 1000;
/** Archives in archives in archives. */
const MOST_DEPTH = 3;
const MOST_DIRECTORY = 2 ** 22;
/** Most bytes of a part that is unpacked, which are those of a FlatBuffer. */
const MOST_CONTENT = 2 ** 31;
/** No compressed byte becomes more. */
const MOST_RATIO = 1032;
/** Compressed bytes that tell what an entry is, and how many bytes of it do. */
const START_PACKED = 4096;
const START = 8;
/** Numbers that say that the true one is elsewhere, in the form for archives above 4 GiB. */
const ELSEWHERE = 0xffff_ffff;
const MANY = 0xffff;

/** The parts of an archive, whose names follow `prefix`. `base`: where it begins in the container; undefined if that is compressed. */
export async function listArchive(
  file: TfliteContainer,
  budget: Budget,
  prefix: string,
  base: number | undefined,
  depth: number,
): Promise<TflitePart[]> {
  const place = prefix === "" ? "archive" : `archive ${quote(prefix)}`;
  const parts: TflitePart[] = [];
  for (const entry of await readEntries(file, place)) {
    budget.entries++;
    ensure(budget.entries <= MOST_ENTRIES, place, () => `there are more than ${MOST_ENTRIES} entries`);
    if (entry.name.endsWith("/")) continue;
    const name = prefix + entry.name;
    const at = await contentStart(file, entry, `part ${quote(name)}`);
    const part = partOf(file, entry, name, at, base);
    const start = await startOf(file, entry, at, name);
    if (!isArchive(start)) {
      parts.push({ ...part, type: isModel(start) ? "model" : "file" });
      continue;
    }
    ensure(depth < MOST_DEPTH, `part ${quote(name)}`, () => `it is an archive in ${depth} others, more than are read`);
    const inner = entry.method === STORED ? slice(file, at, entry.size) : await unpack(part, budget);
    const innerBase = entry.method === STORED ? part.offset : undefined;
    parts.push(...(await listArchive(inner, budget, `${name}/`, innerBase, depth + 1)));
  }
  return parts;
}

function isArchive(start: Uint8Array): boolean {
  return start[0] === 0x50 && mayHaveParts(start);
}

function isModel(start: Uint8Array): boolean {
  return String.fromCharCode(...start.subarray(4, 8)) === "TFL3";
}

function slice(file: TfliteContainer, at: number, size: number): TfliteContainer {
  return { size, read: (from, length) => file.read(at + from, length) };
}

async function unpack(part: TflitePart, budget: Budget): Promise<TfliteContainer> {
  budget.unpacked -= part.size;
  ensure(budget.unpacked >= 0, `part ${quote(part.name)}`, () => "the archives in it take too many bytes to list");
  const bytes = await part.read();
  return { size: bytes.length, read: async (from, length) => bytes.subarray(from, from + length) };
}

/** The entries of an archive, of which only the directory is read. */
async function readEntries(file: TfliteContainer, place: string): Promise<Entry[]> {
  const tailSize = Math.min(file.size, end.size + MOST_COMMENT);
  const tailAt = file.size - tailSize;
  const tail = await file.read(tailAt, tailSize);
  const at = findEnd(tail);
  if (at === undefined) fail(place, `the ${file.size} bytes do not end as an archive does; they may be cut`);
  const view = viewOf(tail);
  const count = view.getUint16(at + 10, true);
  const [size, directory] = [view.getUint32(at + 12, true), view.getUint32(at + 16, true)];
  const isSmall = count !== MANY && size !== ELSEWHERE && directory !== ELSEWHERE;
  ensure(isSmall, place, () => "archives of the form zip64 are not supported");
  ensure(
    directory + size <= tailAt + at,
    place,
    () => `its directory, ${size} bytes at ${directory}, lies outside the ${tailAt + at} bytes before its end`,
  );
  ensure(size <= MOST_DIRECTORY, place, () => `its directory of ${size} bytes is larger than ${MOST_DIRECTORY}`);
  return entriesOf(await file.read(directory, size), { at: 0, count });
}

/** Where the content of an entry begins. It lies in the file. */
async function contentStart(file: TfliteContainer, { at, compressed }: Entry, place: string): Promise<number> {
  ensure(at + local.size <= file.size, place, () => `there is no file at ${at}, the archive has ${file.size} bytes`);
  const head = viewOf(await file.read(at, local.size));
  ensure(head.getUint32(0, true) === local.signature, place, () => `there is no file at ${at}`);
  const start = at + local.size + head.getUint16(26, true) + head.getUint16(28, true);
  ensure(
    start + compressed <= file.size,
    place,
    () => `its ${compressed} bytes at ${start} lie outside the archive of ${file.size} bytes`,
  );
  return start;
}

function partOf(
  file: TfliteContainer,
  { size, compressed, method }: Entry,
  name: string,
  at: number,
  base: number | undefined,
): TflitePart {
  const place = `part ${quote(name)}`;
  if (method === STORED) ensure(size === compressed, place, () => `${compressed} stored bytes are not ${size}`);
  return {
    ...{ name, type: "file", size },
    ...(base !== undefined && { offset: base + at }),
    ...(method !== STORED && { packedSize: compressed }),
    async read() {
      ensure(method === STORED || method === DEFLATED, place, () => `compression method ${method} is not supported`);
      if (method === STORED) return file.read(at, size);
      const most = Math.min(MOST_CONTENT, compressed * MOST_RATIO);
      ensure(size <= most, place, () => `${size} bytes are more than the most of ${compressed} packed ones, ${most}`);
      return inflate(await file.read(at, compressed), size, place);
    },
  };
}

/** The first bytes of an entry; none if its compression is not supported. */
async function startOf(file: TfliteContainer, entry: Entry, at: number, name: string): Promise<Uint8Array> {
  const { method, compressed } = entry;
  if (method === STORED) return file.read(at, Math.min(START, compressed));
  if (method !== DEFLATED) return new Uint8Array(0);
  return inflateStart(await file.read(at, Math.min(START_PACKED, compressed)), START, `part ${quote(name)}`);
}
