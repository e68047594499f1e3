/**
 * Reads the file of a SentencePiece model, a message of Protocol Buffers. Every length is checked before use.
 */
import { failTokenizer, MOST_FILE_BYTES, MOST_TOKENS } from "../tokenizer.ts";

/** Type of a piece. Its index is its code. */
export const pieceTypes = ["", "normal", "unknown", "control", "user", "unused", "byte"] as const;

/** A piece of the vocabulary; its number is its place. */
export interface Piece {
  /** In UTF-8. */
  readonly bytes: Uint8Array;
  readonly score: number;
  readonly type: (typeof pieceTypes)[number];
}

/** Contents of a file. */
export interface SentencePieceFile {
  readonly pieces: readonly Piece[];
  readonly algorithm: "unigram" | "bpe";
  /** True if a character that no piece has becomes its bytes. */
  readonly byteFallback: boolean;
  /** True if spaces belong to the word before them. */
  readonly spaceIsSuffix: boolean;
  /** Map from characters to others; empty: they stay. */
  readonly charsMap: Uint8Array;
  readonly addDummyPrefix: boolean;
  readonly removeExtraSpaces: boolean;
  readonly escapeSpaces: boolean;
  /** The numbers of the tokens that begin and end a text; undefined if there are none. */
  readonly begin: number | undefined;
  readonly end: number | undefined;
}

/** The most bytes of a piece. */
const MOST_PIECE_BYTES = 512;

/** The most bytes of all pieces together: 256,000 pieces have 2 million. */
const MOST_BYTES_OF_PIECES = 2 ** 22;

const algorithms: Readonly<Record<number, SentencePieceFile["algorithm"]>> = { 1: "unigram", 2: "bpe" };

/** Reads a file. Throws a NetworkError for one that is broken, or of another algorithm than unigram and BPE. */
export function readSentencePiece(bytes: Uint8Array): SentencePieceFile {
  if (bytes.length > MOST_FILE_BYTES)
    failTokenizer(`its SentencePiece model has ${bytes.length} bytes; ${MOST_FILE_BYTES} are the most`);
  const pieces: Piece[] = [];
  const trainer = new Map<number, Field>();
  const normalizer = new Map<number, Field>();
  for (const field of fieldsOf(bytes)) {
    if (field.number === 1) {
      if (pieces.length === MOST_TOKENS) failTokenizer(`its SentencePiece model has more than ${MOST_TOKENS} pieces`);
      pieces.push(readPiece(partOf(field), pieces.length));
    }
    // A part that is there twice is one whose fields follow one another.
    if (field.number === 2) addFields(trainer, partOf(field));
    if (field.number === 3) addFields(normalizer, partOf(field));
  }
  const size = pieces.reduce((sum, piece) => sum + piece.bytes.length, 0);
  if (size > MOST_BYTES_OF_PIECES)
    failTokenizer(`the pieces of its SentencePiece model have ${size} bytes; ${MOST_BYTES_OF_PIECES} are the most`);
  const numberOf = (fields: ReadonlyMap<number, Field>, field: number, absent: number) =>
    fields.get(field)?.value ?? absent;
  const kind = numberOf(trainer, 3, 1);
  const algorithm = algorithms[kind];
  if (algorithm === undefined)
    failTokenizer(`its SentencePiece model is of the type ${kind}; unigram (1) and BPE (2) are supported`);
  const charsMap = normalizer.get(2);
  const idOf = (field: number, absent: number) => {
    const id = numberOf(trainer, field, absent);
    return id >= 0 && id < pieces.length && pieces[id]?.type === "control" ? id : undefined;
  };
  return {
    pieces,
    algorithm,
    byteFallback: numberOf(trainer, 35, 0) !== 0,
    spaceIsSuffix: numberOf(trainer, 24, 0) !== 0,
    charsMap: charsMap === undefined ? new Uint8Array() : partOf(charsMap),
    addDummyPrefix: numberOf(normalizer, 3, 1) !== 0,
    removeExtraSpaces: numberOf(normalizer, 4, 1) !== 0,
    escapeSpaces: numberOf(normalizer, 5, 1) !== 0,
    begin: idOf(41, 1),
    end: idOf(42, 2),
  };
}

function readPiece(bytes: Uint8Array, place: number): Piece {
  const fields = addFields(new Map(), bytes);
  const text = fields.get(1);
  const code = fields.get(3)?.value ?? 1;
  const type = pieceTypes[code];
  if (type === undefined || type === "") failTokenizer(`piece ${place} has the type ${code}; 1 to 6 are known`);
  const content = text === undefined ? new Uint8Array() : partOf(text);
  if (content.length === 0 || content.length > MOST_PIECE_BYTES)
    failTokenizer(`piece ${place} has ${content.length} bytes; 1 to ${MOST_PIECE_BYTES} are supported`);
  const score = fields.get(2)?.float ?? 0;
  if (!Number.isFinite(score)) failTokenizer(`piece ${place} has the score ${score}`);
  return { bytes: content, score, type };
}

interface Field {
  readonly number: number;
  /** Of an integer: its 32 low bits, with the sign. */
  readonly value?: number;
  readonly float?: number;
  /** Of a string or message. */
  readonly part?: Uint8Array;
}

/** Adds the fields of a message; of one that is there already, the later one counts. */
function addFields(fields: Map<number, Field>, bytes: Uint8Array): Map<number, Field> {
  for (const field of fieldsOf(bytes)) fields.set(field.number, field);
  return fields;
}

function partOf({ number, part }: Field): Uint8Array {
  return part ?? failTokenizer(`field ${number} of its SentencePiece model is not bytes`);
}

const VARINT = 0;
const FIXED_64 = 1;
const BYTES = 2;
const FIXED_32 = 5;

function* fieldsOf(bytes: Uint8Array): Generator<Field> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const breakIt = () => failTokenizer(`its SentencePiece model is broken at byte ${at} of a part of ${bytes.length}`);
  const varint = () => {
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = bytes[at++] ?? breakIt();
      if (shift < 32) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return breakIt();
  };
  while (at < bytes.length) {
    const tag = varint() >>> 0;
    const number = tag >>> 3;
    const wire = tag & 7;
    if (number === 0) breakIt();
    if (wire === VARINT) yield { number, value: varint() };
    else if (wire === BYTES) {
      const length = varint() >>> 0;
      if (at + length > bytes.length) breakIt();
      yield { number, part: bytes.subarray(at, at + length) };
      at += length;
    } else if (wire === FIXED_32 || wire === FIXED_64) {
      const size = wire === FIXED_32 ? 4 : 8;
      if (at + size > bytes.length) breakIt();
      yield { number, ...(wire === FIXED_32 && { float: view.getFloat32(at, true) }) };
      at += size;
    } else breakIt();
  }
}
