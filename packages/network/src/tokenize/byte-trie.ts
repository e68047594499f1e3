/**
 * A tree of strings of bytes, to find those that begin at a place of a text.
 */
import { elementAt } from "@nnhal/operations";
import { failTokenizer } from "../tokenizer.ts";

/** Finds strings in bytes. */
export interface ByteTrie {
  /** The node after a byte; -1 if no string goes on with it. The first node is 0. */
  next(node: number, byte: number): number;
  /** The number of the string that ends at a node; -1 if none does. */
  idAt(node: number): number;
  /** The number of the string that is all bytes from `start` to `end`; -1 if there is none. */
  find(bytes: Uint8Array, start: number, end: number): number;
}

/** The limit of steps that trees take for a text, and the steps left of it. */
export interface Steps {
  left: number;
  most: number;
}

/** The most steps for a text of so many bytes: 256 for each, and a million; for one of megabytes, some seconds. */
export function stepsFor(bytes: number): Steps {
  const most = Math.min(2 ** 20 + 256 * bytes, 2 ** 27);
  return { left: most, most };
}

/** A file cannot be made for it: which keys have the same place is different in each process. */
const seed = Math.floor(Math.random() * 2 ** 32);

/** A tree of strings with their numbers. Its `next` throws a NetworkError if there are no steps left. */
export function createByteTrie(
  strings: readonly (readonly [bytes: Uint8Array, id: number])[],
  steps: Steps = stepsFor(Number.POSITIVE_INFINITY),
): ByteTrie {
  // A node is made for each byte at most. Keys of edges are node * 256 + byte, from 1: no edge leads to node 0.
  const most = strings.reduce((sum, [{ length }]) => sum + length, 1);
  const capacity = 2 ** Math.ceil(Math.log2(2 * most + 1));
  const keys = new Uint32Array(capacity);
  const children = new Int32Array(capacity);
  const ids = new Int32Array(most).fill(-1);
  let count = 1;
  /** The place of an edge, or the free one for it. */
  const placeOf = (key: number) => {
    let hash = Math.imul(key ^ seed, 0x9e3779b1);
    hash = Math.imul(hash ^ (hash >>> 15) ^ seed, 0x85ebca6b);
    let place = (hash ^ (hash >>> 13)) & (capacity - 1);
    while (elementAt(children, place) !== 0 && elementAt(keys, place) !== key) place = (place + 1) & (capacity - 1);
    return place;
  };
  for (const [bytes, id] of strings) {
    let node = 0;
    for (const byte of bytes) {
      const key = node * 256 + byte;
      const place = placeOf(key);
      if (elementAt(children, place) === 0) {
        keys[place] = key;
        children[place] = count++;
      }
      node = elementAt(children, place);
    }
    ids[node] = id;
  }
  const next = (node: number, byte: number) => {
    steps.left--;
    if (steps.left < 0) failTokenizer(`its SentencePiece model takes more than ${steps.most} steps for this text`);
    return elementAt(children, placeOf(node * 256 + byte)) || -1;
  };
  const idAt = (node: number) => elementAt(ids, node);
  return {
    next,
    idAt,
    find(bytes, start, end) {
      let node = 0;
      for (let at = start; at < end && node >= 0; at++) node = next(node, elementAt(bytes, at));
      return node > 0 ? idAt(node) : -1;
    },
  };
}

/** The bytes of the longest string of a tree that begins at a place; 0 if none does. */
export function longestAt(trie: ByteTrie, bytes: Uint8Array, start: number): number {
  let longest = 0;
  let node = 0;
  for (let at = start; at < bytes.length; at++) {
    node = trie.next(node, elementAt(bytes, at));
    if (node < 0) break;
    if (trie.idAt(node) >= 0) longest = at + 1 - start;
  }
  return longest;
}

/** The bytes of the UTF-8 character at a place, by its first byte, up to the end. */
export function characterLength(bytes: Uint8Array, at: number): number {
  const first = elementAt(bytes, at);
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return Math.min(length, bytes.length - at);
}
