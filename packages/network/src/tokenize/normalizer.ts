/**
 * Preparation of a text by SentencePiece: characters become others as the model's file says, and spaces become the character U+2581.
 */
import { elementAt } from "@nnhal/operations";
import { failTokenizer } from "../tokenizer.ts";
import { type ByteTrie, characterLength, longestAt } from "./byte-trie.ts";
import type { SentencePieceFile } from "./sentencepiece-file.ts";

/** U+2581 in UTF-8, which stands for a space. */
const SPACE = Uint8Array.of(0xe2, 0x96, 0x81);
const PLAIN_SPACE = Uint8Array.of(0x20);

/** More bytes than a key of NFKC has. */
const MOST_KEY_BYTES = 256;

/** The most bytes that a prepared text has for each of the text: a ligature of 3 bytes becomes 33. */
const MOST_GROWTH = 32;

/** The most bytes of a prepared text: one of 2^22 characters has at most 3 for each as a rule. */
const MOST_BYTES = 2 ** 24;

/** Prepares a text in UTF-8. */
export type Normalizer = (text: Uint8Array) => Uint8Array;

/** Returns the preparation that a file describes. `own`: the strings of the maker, which stay as they are. Throws a NetworkError if the map is broken. */
export function createNormalizer(file: SentencePieceFile, own: ByteTrie): Normalizer {
  const { addDummyPrefix, removeExtraSpaces, escapeSpaces, spaceIsSuffix } = file;
  const replace = file.charsMap.length === 0 ? undefined : charsMapOf(file.charsMap);
  const space = escapeSpaces ? SPACE : PLAIN_SPACE;
  /** Replacement of the bytes at a position, and the number of bytes that it replaces. */
  const prefixAt = (
    text: Uint8Array,
    at: number,
    into: GrowingBytes,
  ): { readonly bytes: Uint8Array; readonly length: number } => {
    const length = longestAt(own, text, at);
    const replaced = length > 0 ? undefined : replace?.(text, at, into.most);
    if (replaced !== undefined) {
      // Also spaces that are left out afterwards.
      into.count(replaced.bytes.length);
      return replaced;
    }
    const kept = length || characterLength(text, at);
    return { bytes: text.subarray(at, at + kept), length: kept };
  };
  return (text) => {
    const into = createBuffer(Math.min(MOST_GROWTH * text.length + 1024, MOST_BYTES));
    let at = 0;
    for (; removeExtraSpaces && at < text.length; ) {
      const { bytes, length } = prefixAt(text, at, into);
      if (bytes.length !== 1 || bytes[0] !== 0x20) break;
      at += length;
    }
    if (at === text.length) return new Uint8Array();
    if (addDummyPrefix && !spaceIsSuffix) into.push(space);
    let isAfterSpace = removeExtraSpaces;
    while (at < text.length) {
      const { bytes, length } = prefixAt(text, at, into);
      let start = 0;
      while (isAfterSpace && bytes[start] === 0x20) start++;
      for (let place = start; place < bytes.length; place++) {
        if (bytes[place] === 0x20) into.push(space);
        else into.push(bytes.subarray(place, place + 1));
      }
      if (start < bytes.length) isAfterSpace = bytes.at(-1) === 0x20;
      if (!removeExtraSpaces) isAfterSpace = false;
      at += length;
    }
    if (removeExtraSpaces) into.dropEnd(space);
    if (addDummyPrefix && spaceIsSuffix) into.push(space);
    return into.bytes();
  };
}

/** Bytes that grow to a limit. */
interface GrowingBytes {
  /** The limit. */
  readonly most: number;
  /** Counts bytes that characters become. Throws a NetworkError if all that were counted are more than the limit. */
  count(bytes: number): void;
  push(bytes: Uint8Array): void;
  /** Drops all there are of some bytes at the end. */
  dropEnd(bytes: Uint8Array): void;
  bytes(): Uint8Array;
}

function createBuffer(most: number): GrowingBytes {
  let memory = new Uint8Array(Math.min(most, 1024));
  let size = 0;
  let counted = 0;
  const refuse = () => failTokenizer(`its map of characters makes more than ${most} bytes of a text`);
  return {
    most,
    count(bytes) {
      counted += bytes;
      if (counted > most) refuse();
    },
    push(bytes) {
      if (size + bytes.length > most) refuse();
      if (size + bytes.length > memory.length) {
        const larger = new Uint8Array(Math.min(most, 2 * (size + bytes.length)));
        larger.set(memory.subarray(0, size));
        memory = larger;
      }
      memory.set(bytes, size);
      size += bytes.length;
    },
    dropEnd(bytes) {
      const endsSo = () => size >= bytes.length && bytes.every((byte, i) => memory[size - bytes.length + i] === byte);
      while (endsSo()) size -= bytes.length;
    },
    bytes: () => memory.slice(0, size),
  };
}

/**
 * The map of a file: the bytes of a tree, the tree as a double array of 32-bit units (as darts-clone has it), and what keys become, each ended by a
 * 0. The longest key wins.
 */
function charsMapOf(blob: Uint8Array) {
  const view = new DataView(blob.buffer, blob.byteOffset, blob.byteLength);
  const treeBytes = blob.length < 4 ? 0 : view.getUint32(0, true);
  if (treeBytes < 4 || treeBytes % 4 !== 0 || 4 + treeBytes > blob.length)
    failTokenizer(`its map of characters of ${blob.length} bytes has a tree of ${treeBytes}`);
  const units = Uint32Array.from({ length: treeBytes / 4 }, (_, place) => view.getUint32(4 + 4 * place, true));
  const targets = blob.subarray(4 + treeBytes);
  const offsetOf = (unit: number) => (unit >>> 10) << ((unit & 0x200) >>> 6);
  const unitAt = (node: number) =>
    units[node] ?? failTokenizer(`its map of characters leads to unit ${node} of ${units.length}`);
  /** Of what has more than `most` bytes, more are found. */
  return (text: Uint8Array, start: number, most: number) => {
    let node = offsetOf(elementAt(units, 0)) >>> 0;
    let found = -1;
    let length = 0;
    const last = Math.min(text.length, start + MOST_KEY_BYTES);
    for (let at = start; at < last; at++) {
      const byte = elementAt(text, at);
      node = (node ^ byte) >>> 0;
      const unit = units[node];
      // The upper bit is that of a leaf, which no byte leads to.
      if (unit === undefined || (unit & 0x800000ff) >>> 0 !== byte) break;
      node = (node ^ offsetOf(unit)) >>> 0;
      if ((unit & 0x100) === 0) continue;
      found = unitAt(node) & 0x7fffffff;
      length = at + 1 - start;
    }
    if (found < 0) return undefined;
    const within = targets.subarray(found, found + most + 1);
    const size = within.indexOf(0);
    if (size < 0 && within.length <= most)
      failTokenizer(`its map of characters has no text at ${found} of ${targets.length}`);
    return { bytes: size < 0 ? within : within.subarray(0, size), length };
  };
}
