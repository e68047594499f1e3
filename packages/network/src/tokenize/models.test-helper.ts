/**
 * Small SentencePiece models, for tests. SentencePiece 0.2.2 itself has cut the texts that tests expect pieces of.
 */

/** A piece: its text, score and type. Types are those of the file: 1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused, 6 byte. */
export type GivenPiece = readonly [text: string | Uint8Array, score: number, type?: number];

/** Fields of a model that are written besides its pieces. An absent field is left to its default. */
export interface GivenModel {
  /** 1 unigram, 2 BPE. */
  readonly algorithm?: number;
  readonly byteFallback?: boolean;
  readonly spaceIsSuffix?: boolean;
  readonly charsMap?: Uint8Array;
  readonly addDummyPrefix?: boolean;
  readonly removeExtraSpaces?: boolean;
  readonly escapeSpaces?: boolean;
}

const utf8 = (text: string) => new TextEncoder().encode(text);

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return [...bytes, rest];
}

/** A field of bytes. */
export function bytesField(field: number, bytes: ArrayLike<number>): number[] {
  return [...varint(field * 8 + 2), ...varint(bytes.length), ...Array.from(bytes)];
}

/** A field of an integer. */
export function integerField(field: number, value: number): number[] {
  return [...varint(field * 8), ...varint(value)];
}

function pieceField([text, score, type]: GivenPiece): number[] {
  const bytes = typeof text === "string" ? utf8(text) : text;
  const float = new Uint8Array(Float32Array.of(score).buffer);
  return bytesField(1, [...bytesField(1, bytes), 0x15, ...float, ...(type === undefined ? [] : integerField(3, type))]);
}

/** The file of a model. */
export function sentencePieceFile(pieces: readonly GivenPiece[], given: GivenModel = {}): Uint8Array {
  const flag = (field: number, value: boolean | undefined) =>
    value === undefined ? [] : integerField(field, value ? 1 : 0);
  const trainer = [
    ...integerField(3, given.algorithm ?? 1),
    ...flag(24, given.spaceIsSuffix),
    ...flag(35, given.byteFallback),
  ];
  const normalizer = [
    ...(given.charsMap === undefined ? [] : bytesField(2, given.charsMap)),
    ...flag(3, given.addDummyPrefix),
    ...flag(4, given.removeExtraSpaces),
    ...flag(5, given.escapeSpaces),
  ];
  return Uint8Array.from([...pieces.flatMap(pieceField), ...bytesField(2, trainer), ...bytesField(3, normalizer)]);
}

/** A map of characters: what each key becomes. A node of its tree has 256 units of its own. */
export function charsMapOf(map: Readonly<Record<string, string>>): Uint8Array {
  const units = [0];
  const targets: number[] = [];
  const blocks = new Map<number, number>();
  /** The first unit of a node's children. */
  const blockOf = (node: number) => {
    const known = blocks.get(node);
    if (known !== undefined) return known;
    const block = 256 * (blocks.size + 1);
    blocks.set(node, block);
    for (let at = 0; at < 256; at++) units[block + at] = 0x8000_0000;
    units[node] = (((units[node] ?? 0) & 0xff) | ((node ^ block) << 10)) >>> 0;
    return block;
  };
  for (const [key, target] of Object.entries(map)) {
    let node = 0;
    for (const byte of utf8(key)) {
      const child = blockOf(node) + byte;
      if (units[child] === 0x8000_0000) units[child] = byte;
      node = child;
    }
    const leaf = blockOf(node);
    units[node] = ((units[node] ?? 0) | 0x100) >>> 0;
    units[leaf] = (0x8000_0000 | targets.length) >>> 0;
    targets.push(...utf8(target), 0);
  }
  const tree = new Uint8Array(Uint32Array.from(units).buffer);
  return Uint8Array.from([...new Uint8Array(Uint32Array.of(tree.length).buffer), ...tree, ...targets]);
}

const reserved: readonly GivenPiece[] = [
  ["<unk>", 0, 2],
  ["<s>", 0, 3],
  ["</s>", 0, 3],
];

/** The pieces of the unigram model: words, parts of them, and strings of the maker. */
export const unigramPieces: readonly GivenPiece[] = [
  ...reserved,
  ["\u2581", -3],
  ["\u2581Hello", -5],
  ["\u2581wor", -6],
  ["\u2581world", -9.5],
  ["ld", -3.4],
  ...[..."Helowrdab"].map((letter): GivenPiece => [letter, -7]),
  [".", -3.5],
  ["<sep>", 0, 4],
  ["\u65e5\u672c", 0, 4],
  ["Hello", -1, 5],
];

/** The pieces of the BPE model, with all bytes. A pair that comes earlier is joined first. */
export const bpePieces: readonly GivenPiece[] = [
  ...reserved,
  ...Array.from(
    { length: 256 },
    (_, byte): GivenPiece => [`<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`, 0, 6],
  ),
  ["<sep>", 0, 4],
  ...["lo", "\u2581h", "el", "\u2581hel", "\u2581hello", "ll"].map((pair, place): GivenPiece => [pair, -place]),
  ["aa", -7, 5],
  ["aaaa", -8],
  ...[..."\u2581helowab"].map((letter, place): GivenPiece => [letter, -20 - place]),
];

/** Keys in full width and ligatures become letters, and a tab becomes a space. */
export const charsMap = charsMapOf({
  "\uff21": "a",
  "\uff21\uff22": "ab",
  "\ufb02": "fl",
  "\t": " ",
  "\u00a0": " ",
  x: "",
});
