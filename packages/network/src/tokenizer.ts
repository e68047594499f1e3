/**
 * Interface of all tokenisers: they cut a text into tokens, which have numbers.
 */
import { NetworkError } from "./error.ts";

/** A tokeniser as TFLite Metadata and the files that are packed with a model say it. */
export type TokenizerInfo =
  /** WordPiece, as BERT has it: a token a line in UTF-8; the number of a token is that of its line, from 0. */
  | { readonly kind: "bert"; readonly vocabulary: Uint8Array }
  /** The file of a SentencePiece model: unigram or BPE. */
  | { readonly kind: "sentencePiece"; readonly model: Uint8Array }
  /** The regular expression of what lies between tokens, and in UTF-8 a token and its number a line. */
  | { readonly kind: "regex"; readonly pattern: string; readonly vocabulary: Uint8Array };

/** A part of a text. */
export interface Token {
  /** As the vocabulary has it; of a part that it does not have, the part. */
  readonly text: string;
  readonly id: number;
}

/** Cuts texts. */
export interface Tokenizer {
  /** The tokens of a text in order, at most `most`. Throws a NetworkError. */
  encode(text: string, most: number): Token[];
  /** The number of a token; undefined if the vocabulary does not have it. */
  idOf(token: string): number | undefined;
  /** The numbers of the tokens that begin and end a text, if the tokeniser says them itself. */
  readonly begin?: number | undefined;
  readonly end?: number | undefined;
}

/** The most bytes of a vocabulary or of a model of SentencePiece: one of 256,000 pieces has 5 million. */
export const MOST_FILE_BYTES = 2 ** 24;

/** The most tokens of a vocabulary. */
export const MOST_TOKENS = 2 ** 20;

/** Throws NOT_A_TOKENIZER. */
export function failTokenizer(message: string): never {
  throw new NetworkError("NOT_A_TOKENIZER", `the tokenizer of the model cannot be used: ${message}`);
}

/** The lines of a vocabulary; the end of the last line does not count. */
export function linesOf(vocabulary: Uint8Array): string[] {
  if (vocabulary.length > MOST_FILE_BYTES)
    failTokenizer(`its vocabulary has ${vocabulary.length} bytes; ${MOST_FILE_BYTES} are the most`);
  const lines = new TextDecoder().decode(vocabulary).split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  if (lines.length > MOST_TOKENS)
    failTokenizer(`its vocabulary has ${lines.length} lines; ${MOST_TOKENS} are the most`);
  return lines;
}
