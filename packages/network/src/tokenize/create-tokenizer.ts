/**
 * The tokeniser that a model comes with. Its files are read once.
 */

import type { Tokenizer, TokenizerInfo } from "../tokenizer.ts";
import { createRegexTokenizer } from "./regex.ts";
import { createSentencePiece } from "./sentencepiece.ts";
import { createWordPiece } from "./wordpiece.ts";

const known = new WeakMap<TokenizerInfo, Tokenizer>();

/** The tokeniser of a model's metadata. Throws a NetworkError (NOT_A_TOKENIZER) if its files are broken. */
export function tokenizerOf(info: TokenizerInfo): Tokenizer {
  const tokenizer = known.get(info) ?? createTokenizer(info);
  known.set(info, tokenizer);
  return tokenizer;
}

function createTokenizer(info: TokenizerInfo): Tokenizer {
  if (info.kind === "bert") return createWordPiece(info.vocabulary);
  if (info.kind === "sentencePiece") return createSentencePiece(info.model);
  return createRegexTokenizer(info.pattern, info.vocabulary);
}
