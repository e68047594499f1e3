/**
 * Texts in which each character takes one column of a terminal, for code that counts characters: East Asian letters and many signs take two,
 * and marks above a letter none.
 */
import { eastAsianWidth } from "get-east-asian-width";

/** Characters of private use stand for others: the first of them, and those that fill their columns. */
const FIRST = 0xe000;
const LAST = 0xf8fe;
const FILLER = "\uf8ff";

/**
 * The result of `work` on a text in which every character takes one column. Letters of other widths are replaced for the time of the work;
 * a text that has characters of private use, or more such letters than there are of these, stays as it is.
 */
export function byColumns(text: string, work: (even: string) => string): string {
  if (isEven(text) || /[\ue000-\uf8ff]/.test(text)) return work(text);
  const letters: string[] = [];
  const places = new Map<string, number>();
  let even = "";
  for (const letter of lettersOf(text)) {
    const width = letterWidth(letter);
    if (letter.length === width || width === 0) {
      even += letter;
      continue;
    }
    const place = places.get(letter) ?? letters.length;
    if (place === letters.length) {
      places.set(letter, place);
      letters.push(letter);
    }
    even += String.fromCharCode(FIRST + place) + FILLER.repeat(width - 1);
  }
  if (letters.length > LAST - FIRST) return work(text);
  return work(even).replace(
    /([\ue000-\uf8fe])\uf8ff*/g,
    (_, letter: string) => letters[letter.charCodeAt(0) - FIRST] ?? "",
  );
}

/** The columns that a text takes in a terminal. */
export function textWidth(text: string): number {
  if (isEven(text)) return text.length;
  let width = 0;
  for (const letter of lettersOf(text)) width += letterWidth(letter);
  return width;
}

/** The letters of a text, each with the marks that stand on it and with what follows it and takes no column. */
function lettersOf(text: string): string[] {
  const letters: string[] = [];
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    const before = letters.at(-1);
    if (letterWidth(segment) > 0 || before === undefined || before === "\n") letters.push(segment);
    else letters[letters.length - 1] = before + segment;
  }
  return letters;
}

/** The columns of one letter with its marks. */
function letterWidth(letter: string): number {
  if (letter === "\n") return 1;
  if (/^[\p{M}\p{Cf}\p{Cc}]+$/u.test(letter)) return 0;
  // A sign that is to be shown as a picture.
  if (letter.includes("\ufe0f")) return 2;
  return eastAsianWidth(letter.codePointAt(0) ?? 0);
}

/** Returns true if each letter of a text takes one column. */
function isEven(text: string): boolean {
  // Latin, Greek and Cyrillic letters, boxes and blocks.
  return /^[\n\x20-\x7e\u00a0-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u2500-\u259f]*$/.test(text);
}
