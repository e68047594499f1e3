/**
 * SKIP_GRAM: groups of words of a sentence, in which words may be left out.
 */

import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { bool, int32, tensor } from "../params.ts";
import { stepsInTurn } from "../phases.ts";
import { tfliteTypes } from "../tflite-types.ts";
import { countOf, stringsOf, writeStrings } from "./_strings.tflite.ts";

const SPACE = 32;
/** The groups of a sentence can be exponentially many: their bytes are bounded. */
const MOST_BYTES = 2 ** 26;

export const skipGram = defineOperation({
  name: "SKIP_GRAM",
  code: 1030,
  summary:
    "Groups of `ngramSize` words of a sentence in order, with at most `maxSkipSize` words left out between two; smaller groups too if `includeAllNgrams`.",
  params: [
    tensor("input", tfliteTypes.TENSOR_STRING),
    int32("ngramSize"),
    int32("maxSkipSize"),
    bool("includeAllNgrams"),
  ],
  outputs: [tensor("output", tfliteTypes.TENSOR_STRING)],
  types: [["1.2"]],
  ranks: { input: [2, Number.POSITIVE_INFINITY] },
  dynamic: true,
  infer({ ngramSize }) {
    ensure(ngramSize >= 1, () => `ngramSize: expected at least 1, got ${ngramSize}`);
    return { output: { dimensions: [0, 0] } };
  },
  reference({ input, ngramSize, maxSkipSize, includeAllNgrams }, { output }) {
    ensure(countOf(input) > 0, () => "the input has no strings where the first one is a sentence");
    const words = wordsOf(stringsOf(input)(0));
    const groups: Uint8Array[] = [];
    let bytes = 0;
    // Depth first: a group is written once no longer one that begins with it is left.
    const chosen = [-1];
    const step = () => {
      if (words.length < ngramSize || chosen.length === 0) return false;
      const depth = chosen.length - 1;
      const previous = depth === 0 ? undefined : chosen[depth - 1];
      const next = chosen[depth] + 1;
      const isNear = previous === undefined || next - previous <= maxSkipSize + 1;
      if (depth < ngramSize && next < words.length && isNear) {
        chosen[depth] = next;
        chosen.push(next);
        return true;
      }
      chosen.pop();
      if (depth === ngramSize || (includeAllNgrams && depth > 0)) {
        const group = joinWords(chosen.map((place) => words[place]));
        bytes += group.length;
        ensure(bytes <= MOST_BYTES, () => `the groups of words take more than ${MOST_BYTES} bytes`);
        groups.push(group);
      }
      return true;
    };
    return [stepsInTurn(step, 32), ...writeStrings(groups, output)];
  },
});

/**
 * The words of a sentence, between white space. As .tflite does it, after a first byte of white space the first word is left out; if it is
 * the only one, the byte is a part of it.
 */
function wordsOf(sentence: Uint8Array): Uint8Array[] {
  const words: Uint8Array[] = [];
  let first = 0;
  for (let place = 1; place < sentence.length; place++) {
    if (!isSpace(sentence[place])) continue;
    if (place > first && !isSpace(sentence[first])) words.push(sentence.subarray(first, place));
    first = place + 1;
  }
  if (first < sentence.length) words.push(sentence.subarray(first));
  return words;
}

/** Returns whether a byte is white space in ASCII. */
function isSpace(byte: number): boolean {
  return byte === SPACE || (byte >= 9 && byte <= 13);
}

function joinWords(words: readonly Uint8Array[]): Uint8Array {
  const group = new Uint8Array(words.reduce((size, { length }) => size + length + 1, -1));
  let place = 0;
  for (const word of words) {
    if (place > 0) group[place++] = SPACE;
    group.set(word, place);
    place += word.length;
  }
  return group;
}
