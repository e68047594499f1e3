/** Writes `.litertlm` files, containers of models and weights. */

/** A section of a file. */
export interface Section {
  /** The code of its kind: 3 is a model, 7 weights. */
  readonly type: number;
  readonly content: Uint8Array;
  /** Item `model_type`. */
  readonly model?: string;
}

/** Bytes of the blocks that LiteRT-LM writes. */
export const LITERTLM_BLOCK = 16_384;

interface LitertlmOptions {
  /** Bytes of a block. */
  readonly block?: number;
  /** Changes where the header says that the sections are. */
  readonly change?: (ranges: [number, number][]) => void;
}

/** A `.litertlm` file: each section begins a block. */
export function litertlm(
  given: readonly Section[],
  { block = LITERTLM_BLOCK, change = () => {} }: LitertlmOptions = {},
): Uint8Array {
  const ranges: [number, number][] = [];
  const headerBytes = 32 + headerOf(given, []).length;
  let at = Math.ceil(headerBytes / block) * block;
  for (const { content } of given) {
    ranges.push([at, at + content.length]);
    at += Math.ceil((content.length + 1) / block) * block;
  }
  const file = new Uint8Array(at);
  for (const [i, { content }] of given.entries()) file.set(content, ranges[i]?.[0]);
  change(ranges);
  const header = headerOf(given, ranges);
  file.set(new TextEncoder().encode("LITERTLM"));
  const view = new DataView(file.buffer);
  view.setUint32(8, 1, true);
  view.setUint32(24, 32 + header.length, true);
  file.set(header, 32);
  return file;
}

/** The header. The writer of tables has no 64-bit numbers: places are put where they belong afterwards. */
function headerOf(given: readonly Section[], ranges: readonly (readonly [number, number])[]): Uint8Array {
  const words: number[] = [];
  const word = (value: number) => words.push(value);
  // Root: vtable of 8 bytes, table of 12.
  word(12);
  word(0x000c_0008);
  word(0x0008_0004);
  word(8);
  word(0);
  word(4);
  // The table of sections, which the last word refers to.
  const vtable = words.length;
  word(0x0008_0006);
  word(0x0000_0004);
  words[vtable - 1] = 4 * (words.length - (vtable - 1));
  word(8);
  word(4);
  const list = words.length;
  word(given.length);
  for (const _ of given) word(0);
  for (const [i, { type, model: name }] of given.entries()) {
    const [begin, end] = ranges[i] ?? [0, 0];
    // items, begin, end and type at 4, 8, 16 and 24.
    word(0x001c_000c);
    word(((8 << 16) | (name === undefined ? 0 : 4)) >>> 0);
    word(0x0018_0010);
    words[list + 1 + i] = 4 * (words.length - (list + 1 + i));
    word(12);
    const items = words.length;
    word(0);
    word(begin % 2 ** 32);
    word(Math.floor(begin / 2 ** 32));
    word(end % 2 ** 32);
    word(Math.floor(end / 2 ** 32));
    word(type);
    if (name === undefined) continue;
    words[items] = 4 * (words.length - items);
    word(1);
    word(4 + 12);
    // key, kind of value and value at 4, 12 and 8.
    word(0x0010_000a);
    word(0x000c_0004);
    word(0x0000_0008);
    const pair = words.length;
    word(12);
    const [key, value] = [pair + 1, pair + 2];
    word(0);
    word(0);
    word(9);
    words[key] = 4 * (words.length - key);
    text("model_type", words);
    const inner = words.length;
    word(0x0008_0006);
    word(0x0000_0004);
    words[value] = 4 * (words.length - value);
    word(4 * (words.length - inner));
    word(4);
    text(name, words);
  }
  const bytes = new Uint8Array(4 * words.length);
  const view = new DataView(bytes.buffer);
  for (const [i, each] of words.entries()) view.setUint32(4 * i, each, true);
  return bytes;
}

/** A string with its length, as words. */
function text(content: string, words: number[]): void {
  const bytes = new TextEncoder().encode(content);
  words.push(bytes.length);
  const padded = new Uint8Array(Math.ceil((bytes.length + 1) / 4) * 4);
  padded.set(bytes);
  const view = new DataView(padded.buffer);
  for (let at = 0; at < padded.length; at += 4) words.push(view.getUint32(at, true));
}
