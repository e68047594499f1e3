import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NetworkError } from "../error.ts";
import { createWordPiece } from "./wordpiece.ts";

const file = (...tokens: readonly string[]) => new TextEncoder().encode(tokens.map((token) => `${token}\n`).join(""));
const all = Number.POSITIVE_INFINITY;

/** The vocabulary of the tests that BERT publishes with its tokeniser. */
const published = ["[UNK]", "[CLS]", "[SEP]", "want", "##want", "##ed", "wa", "un", "runn", "##ing", ","];
const textsOf = (vocabulary: readonly string[], text: string, most = all) =>
  createWordPiece(file(...vocabulary))
    .encode(text, most)
    .map((token) => token.text);

describe("createWordPiece", () => {
  test("cuts the published examples", () => {
    const tokenizer = createWordPiece(file(...published, "##aff", "##able", "low", "lowest"));
    expect(tokenizer.encode("unaffable", all)).toEqual([
      { text: "un", id: 7 },
      { text: "##aff", id: 11 },
      { text: "##able", id: 12 },
    ]);
    const ids = createWordPiece(file(...[...published, "low", "lowest"], "##runn"))
      .encode("UNwant\u00e9d,running", all)
      .map(({ id }) => id);
    expect(ids).toEqual([7, 4, 5, 10, 8, 9]);
    expect(textsOf(published, "unwanted running")).toEqual(["un", "##want", "##ed", "runn", "##ing"]);
    expect(textsOf(published, "unwantedX running")).toEqual(["[UNK]", "runn", "##ing"]);
    expect(textsOf(published, "")).toEqual([]);
  });

  test("brings texts to lower case and takes accents off unless the vocabulary has upper case", () => {
    const words = ["hello", "!", "how", "are", "you", "?"];
    expect(textsOf(["[UNK]", ...words], " \tHeLLo!how  \n Are yoU?  ")).toEqual(words);
    expect(textsOf(["[UNK]", "hello"], "H\u00e9llo")).toEqual(["hello"]);
    expect(textsOf(["[UNK]", "Hello", "hello"], "Hello hello H\u00e9llo")).toEqual(["Hello", "hello", "[UNK]"]);
  });

  test("any number of marks are put in order and taken off", () => {
    expect(textsOf(["[UNK]", "ab"], `a${"\u0315\u0300".repeat(200_000)}b`)).toEqual(["ab"]);
    expect(textsOf(["[UNK]", "a\u302eb"], `\u00e1\u302e${"\u0315".repeat(50)}b`)).toEqual(["a\u302eb"]);
  });

  test("ideographs and punctuation are words; control characters are nothing", () => {
    const vocabulary = ["[UNK]", "ah", "\u535a", "\u63a8", "zz", "-", "\u2014", "a", "$"];
    expect(textsOf(vocabulary, "ah\u535a\u63a8zz")).toEqual(["ah", "\u535a", "\u63a8", "zz"]);
    expect(textsOf(vocabulary, "a-a\u2014a$a")).toEqual(["a", "-", "a", "\u2014", "a", "$", "a"]);
    expect(textsOf(vocabulary, "a\u0000h\u200d\ufffd\u00a0zz\u3000a")).toEqual(["ah", "zz", "a"]);
  });

  test("a word of 100 characters is cut, and one of 101 is unknown", () => {
    expect(textsOf(["[UNK]", "a", "##a"], "a".repeat(100))).toHaveLength(100);
    expect(textsOf(["[UNK]", "a", "##a"], "a".repeat(101))).toEqual(["[UNK]"]);
    const wide = "\u{10400}".toLowerCase();
    expect(textsOf(["[UNK]", wide, `##${wide}`], wide.repeat(100))).toHaveLength(100);
    expect(textsOf(["[UNK]", wide, `##${wide}`], wide.repeat(101))).toEqual(["[UNK]"]);
  });

  test("gives no more tokens than are wanted", () => {
    expect(textsOf(published, "unwanted", 2)).toEqual(["un", "##want"]);
    expect(textsOf(published, "unwanted", 0)).toEqual([]);
  });

  test("lines may end in CR and LF, and the first of equal tokens counts", () => {
    const tokenizer = createWordPiece(new TextEncoder().encode("[UNK]\r\na\r\na"));
    expect(tokenizer.encode("a", all)).toEqual([{ text: "a", id: 1 }]);
  });

  test("a vocabulary without [UNK], or of too many lines, is refused", () => {
    expect(() => createWordPiece(file("a"))).toThrow("its vocabulary of 1 tokens has no [UNK]");
    expect(() => createWordPiece(new Uint8Array(2 ** 24 + 1))).toThrow("16777217 bytes; 16777216 are the most");
    const lines = (count: number) => new TextEncoder().encode(`[UNK]${"\n".repeat(count)}`);
    expect(() => createWordPiece(lines(2 ** 20))).not.toThrow();
    expect(() => createWordPiece(lines(2 ** 20 + 1))).toThrow(NetworkError);
  });

  test("any text becomes tokens of the vocabulary", () => {
    const tokenizer = createWordPiece(file(...published, "a", "##a", "\u00e9"));
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
        for (const token of tokenizer.encode(text, all)) expect(tokenizer.idOf(token.text)).toBe(token.id);
      }),
    );
    for (const text of ["\ud800", "a\udc00a", "\u0000"]) expect(() => tokenizer.encode(text, all)).not.toThrow();
    expect(tokenizer.encode("a".repeat(2 ** 20), all)).toHaveLength(1);
    expect(tokenizer.encode("a ".repeat(2 ** 19), 128)).toHaveLength(128);
  });
});
