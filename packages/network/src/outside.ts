/**
 * Reads what lies outside of a FlatBuffer: the external buffers of a model, and constants behind the FlatBuffer of a large file. Only the
 * ranges that the model needs are read, each to the place where it stays. It is loaded by need, and gets from its caller what a page has loaded
 * already: what this module imported would be in a bundle for a browser as a part of its own.
 */
import type { TfliteNeeds, TfliteOutside, TfliteRange } from "@nnhal/tflite";
import type { NetworkError, NetworkErrorCode } from "./error.ts";
import type { FileParts, LocalFile } from "./port.ts";
import type { ModelBytes, ModelReadOptions, ReadOptions, Source } from "./read.ts";

/** Most bytes of a model and all its constants, unless the caller says otherwise. */
const MOST_BYTES = 2 ** 34;

/** Bytes of a large file that are read first. Most FlatBuffers without their constants are smaller. */
const FIRST_BYTES = 2 ** 20;

/** Constants that are read share memories of about this size. */
const MEMORY_BYTES = 2 ** 30;

/** Constants keep their place within so many bytes, which is the alignment that the maker of the file has chosen. */
const ALIGNMENT = 64;

/** Functions of other modules that this module uses. */
export interface Tools {
  readonly mostFlatbuffer: number;
  readonly NetworkError: typeof NetworkError;
  oneLine(text: string): string;
  readSource(source: Source, what: string, options?: ReadOptions): Promise<Uint8Array>;
  reasonOf(error: unknown): string;
  openLocal(source: string | URL): Promise<LocalFile | undefined>;
  localBeside(source: string | URL, name: string): Promise<string | undefined>;
  nameOf(source: Source): string;
  /** Rejects with NOT_A_MODEL for bytes that are not one. `named`: as `nameOf` returns it. */
  needsOf(bytes: Uint8Array, named: string, size?: number): Promise<TfliteNeeds>;
}

/** Throws unless a condition holds. */
type Check = (condition: boolean, code: NetworkErrorCode, message: () => string) => void;

function checkWith({ NetworkError }: Tools): Check {
  return (condition, code, message) => {
    if (!condition) throw new NetworkError(code, message());
  };
}

/** Where constants are besides the files that a group names. */
export interface Places {
  /** The file of the model, of which the bytes are the start. */
  readonly own?: FileParts;
  /** The file of a group in the container of the model. */
  readonly within?: (group: string) => Promise<FileParts | undefined>;
}

/** Reads a file that is larger than a FlatBuffer can be: its FlatBuffer, and the constants behind it. */
export async function readLargeFile(
  source: Source,
  file: FileParts,
  options: ModelReadOptions,
  tools: Tools,
  within?: Places["within"],
): Promise<ModelBytes> {
  const { mostFlatbuffer } = tools;
  const check = checkWith(tools);
  let bytes = new Uint8Array(0);
  let wanted = Math.min(FIRST_BYTES, file.size);
  while (wanted > bytes.length) {
    check(
      wanted <= mostFlatbuffer,
      "NOT_A_MODEL",
      () => `the FlatBuffer of the model${tools.nameOf(source)} takes more than 2 GiB`,
    );
    const more = allocate(wanted);
    more.set(bytes);
    await file.fill(more.subarray(bytes.length), bytes.length, options.signal);
    bytes = more;
    const { start } = await tools.needsOf(bytes, tools.nameOf(source), file.size);
    // A FlatBuffer that goes on is read in few steps.
    wanted = start > bytes.length ? Math.max(start, Math.min(4 * bytes.length, file.size, mostFlatbuffer)) : start;
  }
  return { bytes, outside: await readOutside(source, bytes, options, tools, { own: file, ...(within && { within }) }) };
}

/** The bytes that a model needs besides its own. Rejects with a NetworkError, or with the reason of the signal. */
export async function readOutside(
  source: Source,
  bytes: Uint8Array,
  { externalBuffers = {}, maxBytes = MOST_BYTES, onProgress, signal }: ModelReadOptions,
  tools: Tools,
  { own, within }: Places = {},
): Promise<readonly TfliteOutside[]> {
  const check = checkWith(tools);
  const named = tools.nameOf(source);
  const quote = (name: string) => JSON.stringify(tools.oneLine(name).slice(0, 200));
  const isRecord = typeof externalBuffers === "object" && externalBuffers !== null && !Array.isArray(externalBuffers);
  check(isRecord, "BAD_OPTION", () => "externalBuffers: expected an object with a source for each name");
  const { ranges } = await tools.needsOf(bytes, named, own?.size);
  const total = ranges.reduce((sum, { length }) => sum + length, bytes.length);
  check(
    total <= maxBytes,
    "CANNOT_READ",
    () =>
      `cannot read the model${named}: with its constants it has ${total} bytes, more than the ${maxBytes} of maxBytes`,
  );
  const groups = [...new Set(ranges.map(({ group }) => group))];
  for (const name of Object.keys(externalBuffers)) {
    const there = groups.flatMap((group) => (group === undefined ? [] : quote(group)));
    check(
      groups.includes(name),
      "BAD_OPTION",
      () =>
        `externalBuffers: the model${named} has no external buffers ${quote(name)}; ${there.length === 0 ? "it has none" : `it has ${there.slice(0, 8).join(", ")}`}`,
    );
  }
  let loaded = bytes.length;
  const reading = {
    tools,
    quote,
    signal,
    maxBytes,
    within,
    onRead(length: number) {
      loaded += length;
      onProgress?.(loaded, total);
    },
  };
  const outside: TfliteOutside[] = [];
  for (const group of groups) {
    const wanted = ranges.filter((range) => range.group === group);
    if (group !== undefined) outside.push(...(await readGroup(group, wanted, source, externalBuffers, reading)));
    else if (own !== undefined) outside.push(...(await readParts(own, wanted, reading)));
  }
  return outside;
}

interface Reading {
  readonly tools: Tools;
  /** A name of the model in a message. */
  quote(name: string): string;
  readonly signal: AbortSignal | undefined;
  readonly maxBytes: number;
  readonly within: Places["within"];
  onRead(length: number): void;
}

async function readGroup(
  group: string,
  ranges: readonly TfliteRange[],
  model: Source,
  given: Readonly<Record<string, Source>>,
  reading: Reading,
): Promise<TfliteOutside[]> {
  const { NetworkError, reasonOf, openLocal } = reading.tools;
  const what = `external buffers ${reading.quote(group)} of the model${reading.tools.nameOf(model)}`;
  try {
    const isGiven = Object.hasOwn(given, group);
    const inner = isGiven ? undefined : await reading.within?.(group);
    if (inner !== undefined) return await readParts(inner, ranges, reading);
    const source = isGiven ? given[group] : await beside(model, group, reading.tools);
    if (typeof source !== "string" && !(source instanceof URL))
      return await partsOfBytes(source, ranges, what, reading);
    const file = await openLocal(source);
    if (file === undefined) return await fetchParts(source, ranges, reading);
    try {
      return await readParts(file, ranges, reading);
    } finally {
      await file.close();
    }
  } catch (error) {
    reading.signal?.throwIfAborted();
    if (error instanceof NetworkError) throw error;
    throw new NetworkError("CANNOT_READ", `cannot read the ${what}: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}

const howToGive = "give that file by this name (externalBuffers, or --external-buffer NAME=PATH)";

/** Where the file of a group is: beside the model, or below its folder. A model must not choose other files. */
async function beside(model: Source, group: string, { localBeside }: Tools): Promise<string | URL> {
  const isInner =
    !/[\\:\0]/.test(group) && group.split("/").every((part) => part !== "" && part !== "." && part !== "..");
  if (!isInner) throw new Error(`such a name may lead out of the folder of the model; ${howToGive}`);
  if (typeof model === "string" || model instanceof URL) {
    const path = await localBeside(model, group);
    if (path !== undefined) return path;
    const address = new URL(String(model), pageAddress());
    if (/^https?:/.test(address.protocol)) return new URL(group.split("/").map(encodeURIComponent).join("/"), address);
  }
  throw new Error(`the model has neither a path nor an address; ${howToGive}`);
}

/** Base of relative addresses in a page or its worker; undefined in Node.js. */
function pageAddress(): string | undefined {
  // The types of Node.js do not have what browsers have, see browser.ts.
  const { document, location } = globalThis as { document?: { baseURI: string }; location?: { href: string } };
  return document?.baseURI ?? location?.href;
}

/** Bytes that are there already, or a Blob. */
async function partsOfBytes(
  source: Source | undefined,
  ranges: readonly TfliteRange[],
  what: string,
  reading: Reading,
): Promise<TfliteOutside[]> {
  if (source instanceof Blob) {
    const fill: FileParts["fill"] = async (into, from, signal) => {
      signal?.throwIfAborted();
      into.set(new Uint8Array(await source.slice(from, from + into.length).arrayBuffer()));
    };
    return readParts({ size: source.size, fill }, ranges, reading);
  }
  // Anything but bytes is refused there.
  const bytes = await reading.tools.readSource(source as Source, what);
  expectLength(bytes.length, ranges);
  for (const { length } of ranges) reading.onRead(length);
  const [{ group } = {}] = ranges;
  return [{ ...(group !== undefined && { group }), offset: 0, bytes }];
}

async function readParts(
  file: FileParts,
  ranges: readonly TfliteRange[],
  { signal, onRead }: Reading,
): Promise<TfliteOutside[]> {
  expectLength(file.size, ranges);
  const outside = placesFor(ranges);
  for (const { bytes, offset } of outside) {
    await file.fill(bytes, offset, signal);
    onRead(bytes.length);
  }
  return outside;
}

/** Reads ranges of what a server sends. One that cannot send a part sends all, of which the rest is dropped. */
async function fetchParts(
  source: string | URL,
  ranges: readonly TfliteRange[],
  { signal, maxBytes, onRead }: Reading,
): Promise<TfliteOutside[]> {
  const [{ offset: first } = { offset: 0 }] = ranges;
  const end = endOf(ranges);
  const headers = { range: `bytes=${first}-${end - 1}` };
  const response = await fetch(source, { headers, ...(signal !== undefined && { signal }) });
  if (response.status === 416) throw new Error(`it has fewer than the ${end} bytes that the model needs`);
  if (!response.ok) throw new Error(`the server answered ${response.status} ${response.statusText}`.trim());
  let at = 0;
  if (response.status === 206) {
    const begin = /^bytes (\d+)-/.exec(response.headers.get("content-range") ?? "")?.[1];
    if (begin !== String(first)) throw new Error("the server answered with another part than the one it was asked for");
    at = first;
  } else if (end > maxBytes) {
    throw new Error(
      `the server sends no parts, and the model needs the bytes up to ${end}, more than the ${maxBytes} of maxBytes`,
    );
  }
  const outside = placesFor(ranges);
  const reader = response.body?.getReader();
  let waiting = 0;
  for (let part = await reader?.read(); part !== undefined && !part.done; part = await reader?.read()) {
    const { value } = part;
    for (let next = outside[waiting]; next !== undefined; next = outside[waiting]) {
      const { offset, bytes } = next;
      if (offset >= at + value.length) break;
      const from = Math.max(offset, at);
      const to = Math.min(offset + bytes.length, at + value.length);
      bytes.set(value.subarray(from - at, to - at), from - offset);
      if (to < offset + bytes.length) break;
      waiting++;
      onRead(bytes.length);
    }
    at += value.length;
    if (waiting === outside.length) break;
  }
  // Ends the transfer. What the server says to that does not matter.
  await reader?.cancel().catch(() => {});
  if (waiting < outside.length) throw new Error(`it has ${at} bytes, and the model needs ${end} of them`);
  return outside;
}

function endOf(ranges: readonly TfliteRange[]): number {
  return ranges.reduce((most, { offset, length }) => Math.max(most, offset + length), 0);
}

function expectLength(size: number, ranges: readonly TfliteRange[]): void {
  const end = endOf(ranges);
  if (size < end) throw new Error(`it has ${size} bytes, and the model needs ${end} of them`);
}

/** Memory for ranges, which are in order. */
function placesFor(ranges: readonly TfliteRange[]): TfliteOutside[] {
  const memories: { size: number; readonly places: number[] }[] = [];
  for (const { offset, length } of ranges) {
    const last = memories.at(-1);
    const memory = last !== undefined && last.size + length <= MEMORY_BYTES ? last : { size: 0, places: [] };
    if (memory !== last) memories.push(memory);
    const place = Math.ceil(memory.size / ALIGNMENT) * ALIGNMENT + (offset % ALIGNMENT);
    memory.places.push(place);
    memory.size = place + length;
  }
  const places = memories.flatMap(({ size, places }) => {
    const bytes = allocate(size);
    return places.map((place) => ({ bytes, place }));
  });
  return ranges.map(({ length, ...range }, i): TfliteOutside => {
    const { bytes, place } = places[i] ?? { bytes: new Uint8Array(0), place: 0 };
    return { ...range, bytes: bytes.subarray(place, place + length) };
  });
}

function allocate(size: number): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(size);
  } catch {
    throw new Error(`there is no memory for ${size} bytes of it`);
  }
}
