/**
 * The unigram algorithm of SentencePiece: of all ways to cut a text into pieces the one with the highest sum of scores.
 */
import { elementAt } from "@nnhal/operations";
import { type ByteTrie, characterLength } from "./byte-trie.ts";
import type { Piece } from "./sentencepiece-file.ts";

/** A piece of a text: from `start` to `end`, in bytes. */
export interface Cut {
  readonly start: number;
  readonly end: number;
  readonly id: number;
}

/** A character without a piece of its own has the lowest score less this. */
const UNKNOWN_PENALTY = 10;

/** The smallest float32 that is not subnormal: no score of a model counts as less, where its highest is asked for. */
const LEAST_HIGHEST = 2 ** -126;

/** Cuts a prepared text. Sums are float32, as in SentencePiece, so that ties are the same. */
export function createUnigram(pieces: readonly Piece[], trie: ByteTrie, unknown: number) {
  let [lowest, highest] = [Number.POSITIVE_INFINITY, LEAST_HIGHEST];
  for (const { type, score } of pieces) {
    if (type !== "normal") continue;
    lowest = Math.min(lowest, score);
    highest = Math.max(highest, score);
  }
  const unknownScore = Number.isFinite(lowest) ? Math.fround(lowest - UNKNOWN_PENALTY) : -UNKNOWN_PENALTY;
  const scores = Float32Array.from(pieces, ({ score }) => score);
  const isUnused = pieces.map(({ type }) => type === "unused");
  const isUser = pieces.map(({ type }) => type === "user");
  return function* (text: Uint8Array): Generator<Cut> {
    // Of the best way up to each byte: its score, and the start and number of its last piece.
    const best = new Float32Array(text.length + 1);
    const starts = new Int32Array(text.length + 1).fill(-1);
    const ids = new Int32Array(text.length + 1);
    const offer = (start: number, end: number, id: number, score: number) => {
      if (elementAt(starts, end) >= 0 && score <= elementAt(best, end)) return;
      best[end] = score;
      starts[end] = start;
      ids[end] = id;
    };
    for (let start = 0; start < text.length; ) {
      const before = elementAt(best, start);
      const width = characterLength(text, start);
      let hasCharacter = false;
      let node = 0;
      for (let at = start; at < text.length; at++) {
        node = trie.next(node, elementAt(text, at));
        if (node < 0) break;
        const id = trie.idAt(node);
        if (id < 0 || isUnused[id]) continue;
        const length = at + 1 - start;
        // A piece that the maker has defined is worth more than its parts.
        const score = isUser[id]
          ? Math.fround(length * highest) - 0.1 + before
          : Math.fround(elementAt(scores, id) + before);
        offer(start, at + 1, id, score);
        if (length === width) hasCharacter = true;
      }
      if (!hasCharacter) offer(start, start + width, unknown, Math.fround(unknownScore + before));
      start += width;
    }
    // The way back from the end becomes the way from the start.
    const ends = new Int32Array(text.length);
    for (let end = text.length; end > 0; end = elementAt(starts, end)) ends[elementAt(starts, end)] = end;
    for (let start = 0; start < text.length; start = elementAt(ends, start)) {
      const end = elementAt(ends, start);
      yield { start, end, id: elementAt(ids, end) };
    }
  };
}
