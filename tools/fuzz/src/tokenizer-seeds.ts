/** Inputs of the target `tokenizer`: a kind, a text or a regular expression, and a file or a text. */
import {
  bpePieces,
  charsMap,
  sentencePieceFile,
  unigramPieces,
} from "../../../packages/network/src/tokenize/models.test-helper.ts";
import type { Case } from "./cases.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);

function seed(name: string, kind: number, head: string, file: Uint8Array): Case {
  return { name, bytes: Uint8Array.from([kind, ...utf8(head), 0, ...file]) };
}

export function tokenizerSeeds(): Case[] {
  const words = utf8("[PAD]\n[UNK]\n[CLS]\n[SEP]\nun\n##aff\n##able\n,\n");
  // Of a map of characters the part that few texts need is left out.
  const smallMap = Uint8Array.from([0, 4, 0, 0, ...charsMap.slice(4, 4 + 1024), 0x61, 0]);
  const pieces = bpePieces.filter(([, , type]) => type !== 6);
  return [
    seed("words", 0, "Un\u00e4ffable, \u65e5 un", words),
    seed("unigram", 1, "Hello world. \u65e5\u672c<sep>zz", sentencePieceFile(unigramPieces)),
    seed("characters", 1, "\tHello", sentencePieceFile(unigramPieces.slice(0, 8), { charsMap: smallMap })),
    seed("pairs", 1, "hello aaaaa<sep>", sentencePieceFile(pieces, { algorithm: 2, spaceIsSuffix: true })),
    seed("bytes", 1, "caf\u00e9 hello", sentencePieceFile(bpePieces, { algorithm: 2, byteFallback: true })),
    seed("expression", 2, "[^\\w\\']+", utf8("a b, a's")),
    seed("groups", 2, "(?i:a|b{2,3}?)+\\b[[:punct:]\\p{L}^-]*$", utf8("aBbb.")),
  ];
}
