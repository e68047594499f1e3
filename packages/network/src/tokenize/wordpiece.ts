/**
 * WordPiece as BERT has it: words, punctuation and Chinese characters, of which each becomes the longest pieces that the vocabulary has.
 */
import { elementAt } from "@nnhal/operations";
import { failTokenizer, linesOf, type Token, type Tokenizer } from "../tokenizer.ts";

const UNKNOWN = "[UNK]";

/** A word of more characters is unknown as a whole. */
const MOST_CHARACTERS = 100;

/** Blocks of ideographs, each of which is a word. */
const ideographs: readonly (readonly [first: number, last: number])[] = [
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xf900, 0xfaff],
  [0x20000, 0x2a6df],
  [0x2a700, 0x2b73f],
  [0x2b740, 0x2b81f],
  [0x2b820, 0x2ceaf],
  [0x2f800, 0x2fa1f],
];

/**
 * A tokeniser over a vocabulary. If no token but those in brackets, such as `[CLS]`, has an upper-case letter, texts are brought to lower case and
 * accents are taken off: the vocabulary was made of such texts. Throws a NetworkError for a vocabulary without `[UNK]`.
 */
export function createWordPiece(vocabulary: Uint8Array): Tokenizer {
  const tokens = linesOf(vocabulary).map((line) => line.trim());
  const ids = new Map<string, number>();
  for (const [id, token] of tokens.entries()) if (!ids.has(token)) ids.set(token, id);
  const unknown = ids.get(UNKNOWN);
  if (unknown === undefined) failTokenizer(`its vocabulary of ${tokens.length} tokens has no ${UNKNOWN}`);
  const isCased = tokens.some((token) => !/^\[.*\]$/u.test(token) && /\p{Lu}/u.test(token));
  return {
    idOf: (token) => ids.get(token),
    encode(text, most) {
      const found: Token[] = [];
      for (const word of wordsOf(text, isCased)) {
        if (found.length >= most) break;
        found.push(...(piecesOf(word, ids) ?? [{ text: UNKNOWN, id: unknown }]));
      }
      return found.slice(0, most);
    },
  };
}

/** Words, and characters that are words of their own. */
function* wordsOf(text: string, isCased: boolean): Generator<string> {
  for (const [run] of text.matchAll(/[^\t\n\r\p{Z}]+/gu)) {
    const clean = run.replace(/[\ufffd\p{Cc}\p{Cf}]/gu, "");
    // Marks are put in order, for which time grows with the square of their number: no word has so many in a row.
    const plain = isCased
      ? clean
      : clean
          .toLowerCase()
          .replace(/\P{M}+|\p{M}{1,32}/gu, (part) => part.normalize("NFD"))
          .replace(/\p{Mn}/gu, "");
    let word = "";
    for (const character of plain) {
      if (!isAlone(character)) {
        word += character;
        continue;
      }
      if (word !== "") yield word;
      word = "";
      yield character;
    }
    if (word !== "") yield word;
  }
}

/** True if a character is a word of its own: an ideograph, or punctuation, which includes all of ASCII that is neither letter nor digit. */
function isAlone(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return !/[0-9A-Za-z]/.test(character);
  return ideographs.some(([first, last]) => code >= first && code <= last) || /\p{P}/u.test(character);
}

/** The longest pieces from left to right; undefined for a word that the vocabulary cannot make. */
function piecesOf(word: string, ids: ReadonlyMap<string, number>): Token[] | undefined {
  // A character has one or two UTF-16 units.
  if (word.length > 2 * MOST_CHARACTERS) return undefined;
  const characters = [...word];
  if (characters.length > MOST_CHARACTERS) return undefined;
  const ends: number[] = [0];
  for (const character of characters) ends.push((ends.at(-1) ?? 0) + character.length);
  const pieces: Token[] = [];
  for (let start = 0; start < characters.length; ) {
    let end = characters.length;
    for (; end > start; end--) {
      const text = `${start > 0 ? "##" : ""}${word.slice(elementAt(ends, start), elementAt(ends, end))}`;
      const id = ids.get(text);
      if (id === undefined) continue;
      pieces.push({ text, id });
      break;
    }
    if (end === start) return undefined;
    start = end;
  }
  return pieces;
}
