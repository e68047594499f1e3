/**
 * Tokens between the matches of a regular expression, as the Task Library of TensorFlow Lite has them for models of words.
 */

import { failTokenizer, linesOf, type Token, type Tokenizer } from "../tokenizer.ts";
import { parseRegex } from "./regex-parser.ts";
import { compileRegex } from "./regex-program.ts";

/** The tokens that stand for the start of a text, for nothing, and for what the vocabulary does not have. */
export const regexTokens = { start: "<START>", pad: "<PAD>", unknown: "<UNKNOWN>" } as const;

/** A tokeniser. Throws a NetworkError for a pattern that is not supported, and a vocabulary without `<PAD>` and `<UNKNOWN>`. */
export function createRegexTokenizer(pattern: string, vocabulary: Uint8Array): Tokenizer {
  if (pattern === "") failTokenizer("it has no regular expression");
  const searchIn = compileRegex(parseRegex(pattern));
  const ids = new Map<string, number>();
  for (const [place, line] of linesOf(vocabulary).entries()) {
    if (line === "") continue;
    const [token = "", digits = ""] = line.split(" ");
    if (!/^-?\d{1,9}$/.test(digits))
      failTokenizer(
        `line ${place + 1} of its vocabulary is ${JSON.stringify(line.slice(0, 100))}, not a token and its number`,
      );
    ids.set(token, Number(digits));
  }
  for (const token of [regexTokens.pad, regexTokens.unknown])
    if (!ids.has(token)) failTokenizer(`its vocabulary of ${ids.size} tokens has no ${token}`);
  const unknown = ids.get(regexTokens.unknown) ?? 0;
  return {
    idOf: (token) => ids.get(token),
    encode(text, most) {
      const characters = Int32Array.from(text, (character) => character.codePointAt(0) ?? 0);
      const search = searchIn(characters);
      const found: Token[] = [];
      const push = (start: number, end: number) => {
        if (start === end) return;
        const word = Array.from(characters.subarray(start, end), (code) => String.fromCodePoint(code)).join("");
        found.push({ text: word, id: ids.get(word) ?? unknown });
      };
      let start = 0;
      while (found.length < most) {
        const match = search(start);
        if (match === undefined) {
          push(start, characters.length);
          break;
        }
        if (match.end === match.start)
          failTokenizer(
            `its regular expression ${JSON.stringify(pattern.slice(0, 100))} matches an empty text between characters`,
          );
        push(start, match.start);
        start = match.end;
      }
      return found.slice(0, most);
    },
  };
}
