/**
 * The BPE algorithm of SentencePiece: of all neighbours in a text the pair that is the piece with the highest score is joined, until no pair is a
 * piece.
 */
import { elementAt } from "@nnhal/operations";
import { type ByteTrie, characterLength, longestAt } from "./byte-trie.ts";
import type { Piece } from "./sentencepiece-file.ts";
import type { Cut } from "./unigram.ts";

/** Two neighbours that are a piece together. */
interface Pair {
  readonly left: number;
  readonly right: number;
  readonly end: number;
  readonly score: number;
}

/** Cuts a prepared text. `own`: the strings of the maker, which stay whole. */
export function createBpe(pieces: readonly Piece[], trie: ByteTrie, own: ByteTrie, unknown: number) {
  const scores = Float32Array.from(pieces, ({ score }) => score);
  const isUnused = pieces.map(({ type }) => type === "unused");
  const mayMeet = neighboursIn(pieces);
  return function* (text: Uint8Array): Generator<Cut> {
    // A part is named by its first byte. Of each: its end, the parts beside it, and whether it is the maker's. An end of 0: it was joined to the left.
    const ends = new Int32Array(text.length);
    const before = new Int32Array(text.length);
    const isOwn = new Uint8Array(text.length);
    // Where the halves of an unused piece meet, by its bytes.
    const halves = new Map<number, number>();
    const queue = createQueue();
    const offer = (left: number, right: number) => {
      if (left < 0 || right >= text.length || isOwn[left] === 1 || isOwn[right] === 1) return;
      const end = elementAt(ends, right);
      const id = trie.find(text, left, end);
      if (id < 0) return;
      queue.push({ left, right, end, score: elementAt(scores, id) });
      if (isUnused[id]) halves.set(id, right - left);
    };
    let last = -1;
    for (let start = 0; start < text.length; ) {
      const length = longestAt(own, text, start);
      isOwn[start] = length > 0 ? 1 : 0;
      before[start] = last;
      last = start;
      start += length || characterLength(text, start);
      ends[last] = start;
    }
    const joinOffered = () => {
      for (let pair = queue.pop(); pair !== undefined; pair = queue.pop()) {
        const { left, right, end } = pair;
        // A part of the pair may have been joined to another meanwhile.
        if (ends[left] !== right || ends[right] !== end) continue;
        ends[left] = end;
        ends[right] = 0;
        if (end < text.length) before[end] = left;
        offer(elementAt(before, left), left);
        offer(left, end);
      }
    };
    // Parts that no piece joins, such as words, are cut apart first, so that there are never many pairs to choose from.
    for (let left = 0, right = 0; left < text.length; left = right) {
      right = elementAt(ends, left);
      offer(left, right);
      if (right === text.length || !mayMeet(text, right)) joinOffered();
    }
    for (let start = 0; start < text.length; start = elementAt(ends, start)) {
      // Unused pieces are taken apart again.
      const rest = [{ start, end: elementAt(ends, start) }];
      for (let part = rest.pop(); part !== undefined; part = rest.pop()) {
        const id = trie.find(text, part.start, part.end);
        const half = id >= 0 && isUnused[id] ? halves.get(id) : undefined;
        if (half === undefined) yield { ...part, id: id < 0 ? unknown : id };
        else rest.push({ start: part.start + half, end: part.end }, { start: part.start, end: part.start + half });
      }
    }
  };
}

/** Bits of a number for two characters. */
const NEIGHBOUR_BITS = 20;

/**
 * Tells whether a piece may reach over a place of a text: whether the characters before and behind it follow each other in any piece, or have the
 * same number as two that do.
 */
function neighboursIn(pieces: readonly Piece[]): (text: Uint8Array, at: number) => boolean {
  const known = new Uint8Array(2 ** NEIGHBOUR_BITS);
  const numberAt = (text: Uint8Array, at: number) => {
    // The last byte of one character and all bytes of the other.
    let hash = elementAt(text, at - 1);
    for (let place = at; place < at + characterLength(text, at); place++)
      hash = Math.imul(hash ^ elementAt(text, place), 0x9e3779b1) ^ (hash >>> 15);
    return hash >>> (32 - NEIGHBOUR_BITS);
  };
  for (const { bytes } of pieces)
    for (let at = characterLength(bytes, 0); at < bytes.length; at += characterLength(bytes, at))
      known[numberAt(bytes, at)] = 1;
  return (text, at) => known[numberAt(text, at)] === 1;
}

/** Pairs, of which the one with the highest score comes first, and of equal ones the left one. */
function createQueue() {
  const heap: Pair[] = [];
  const comesBefore = (a: Pair, b: Pair) => a.score > b.score || (a.score === b.score && a.left < b.left);
  return {
    push(pair: Pair) {
      let place = heap.length;
      heap.push(pair);
      for (let above = (place - 1) >> 1; place > 0; above = (place - 1) >> 1) {
        const other = elementAt(heap, above);
        if (!comesBefore(pair, other)) break;
        heap[place] = other;
        place = above;
      }
      heap[place] = pair;
    },
    pop(): Pair | undefined {
      const first = heap[0];
      const moved = heap.pop();
      if (first === undefined || moved === undefined || heap.length === 0) return first;
      let place = 0;
      for (let child = 1; child < heap.length; child = 2 * place + 1) {
        if (child + 1 < heap.length && comesBefore(elementAt(heap, child + 1), elementAt(heap, child))) child++;
        const other = elementAt(heap, child);
        if (!comesBefore(other, moved)) break;
        heap[place] = other;
        place = child;
      }
      heap[place] = moved;
      return first;
    },
  };
}
