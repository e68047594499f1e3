/**
 * SentencePiece: texts are cut into pieces by the model that comes with a network.
 */
import { elementAt } from "@nnhal/operations";
import { failTokenizer, type Token, type Tokenizer } from "../tokenizer.ts";
import { createBpe } from "./bpe.ts";
import { createByteTrie, stepsFor } from "./byte-trie.ts";
import { createNormalizer } from "./normalizer.ts";
import { type Piece, readSentencePiece } from "./sentencepiece-file.ts";
import { createUnigram } from "./unigram.ts";

/** A tokeniser over the file of a model. Throws a NetworkError for a file that is broken. */
export function createSentencePiece(bytes: Uint8Array): Tokenizer {
  const file = readSentencePiece(bytes);
  const { pieces, byteFallback } = file;
  const { ids, texts, unknown, byteIds } = checkedPieces(pieces, byteFallback);
  const steps = stepsFor(0);
  // Other pieces, such as <s>, are not found in texts.
  const inTexts = (types: readonly Piece["type"][]) =>
    createByteTrie(
      pieces.flatMap((piece, id) => (types.includes(piece.type) ? [[piece.bytes, id] as const] : [])),
      steps,
    );
  const trie = inTexts(["normal", "user", "unused"]);
  const own = inTexts(["user"]);
  const normalize = createNormalizer(file, own);
  const cut = file.algorithm === "bpe" ? createBpe(pieces, trie, own, unknown) : createUnigram(pieces, trie, unknown);
  return {
    begin: file.begin,
    end: file.end,
    idOf: (token) => ids.get(token),
    encode(text, most) {
      const given = new TextEncoder().encode(text);
      Object.assign(steps, stepsFor(given.length));
      const prepared = normalize(given);
      const found: Token[] = [];
      let isAfterUnknown = false;
      for (const { start, end, id } of cut(prepared)) {
        const isUnknown = id === unknown;
        if (isUnknown && byteFallback) {
          for (const byte of prepared.subarray(start, end)) {
            const byteId = elementAt(byteIds, byte);
            found.push({ text: elementAt(texts, byteId), id: byteId });
          }
        } else if (!isUnknown) found.push({ text: elementAt(texts, id), id });
        else if (!isAfterUnknown) found.push({ text: decode(prepared.subarray(start, end)), id });
        else {
          // Unknown characters beside each other are one token.
          const last = found.pop();
          found.push({ text: `${last?.text ?? ""}${decode(prepared.subarray(start, end))}`, id });
        }
        isAfterUnknown = isUnknown;
        if (found.length > most) break;
      }
      return found.slice(0, most);
    },
  };
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/** The pieces by name, and those of bytes. Throws a NetworkError for pieces that contradict each other. */
function checkedPieces(pieces: readonly Piece[], byteFallback: boolean) {
  const ids = new Map<string, number>();
  const byteIds: number[] = [];
  let unknown: number | undefined;
  const texts = pieces.map(({ bytes }) => decode(bytes));
  for (const [id, { type }] of pieces.entries()) {
    const text = elementAt(texts, id);
    const isReserved = type === "unknown" || type === "control" || type === "byte";
    // A name in texts and one that is reserved may be the same: the reserved one is meant.
    const known = ids.get(text);
    if (known === undefined || isReserved) ids.set(text, id);
    if (type === "unknown") {
      if (unknown !== undefined)
        failTokenizer(`the pieces ${unknown} and ${id} of its SentencePiece model are both the unknown one`);
      unknown = id;
    }
    if (type === "byte") {
      const [, digits] =
        /^<0x([0-9A-F]{2})>$/.exec(text) ?? failTokenizer(`piece ${id} of its SentencePiece model is not a byte`);
      byteIds[Number.parseInt(digits ?? "", 16)] = id;
    }
  }
  if (unknown === undefined)
    failTokenizer(`none of the ${pieces.length} pieces of its SentencePiece model is the unknown one`);
  const missing = Array.from({ length: 256 }, (_, byte) => byte).find((byte) => byteIds[byte] === undefined);
  if (byteFallback && missing !== undefined)
    failTokenizer(`its SentencePiece model falls back to bytes, and has no piece for the byte ${missing}`);
  return { ids, texts, unknown, byteIds };
}
