import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NetworkError } from "../error.ts";
import {
  bpePieces,
  bytesField,
  charsMap,
  type GivenModel,
  type GivenPiece,
  integerField,
  sentencePieceFile,
  unigramPieces,
} from "./models.test-helper.ts";
import { createSentencePiece } from "./sentencepiece.ts";

const all = Number.POSITIVE_INFINITY;
const unigram = (given: GivenModel = {}) => createSentencePiece(sentencePieceFile(unigramPieces, given));
const bpe = createSentencePiece(sentencePieceFile(bpePieces, { algorithm: 2, byteFallback: true }));
const cut = (tokenizer: ReturnType<typeof createSentencePiece>, text: string) => {
  const tokens = tokenizer.encode(text, all);
  return [tokens.map((token) => token.text).join(" "), tokens.map(({ id }) => id)];
};

describe("createSentencePiece", () => {
  test.each([
    ["Hello world.", "\u2581Hello \u2581wor ld .", [4, 5, 7, 17]],
    ["  Hello \t  world", "\u2581Hello \u2581wor ld", [4, 5, 7]],
    ["zz Helloqq", "\u2581 zz \u2581Hello qq", [3, 0, 4, 0]],
    ["a<sep>b <s>", "\u2581 a <sep> b \u2581 <s>", [3, 15, 18, 16, 3, 0]],
    ["\u65e5\u672c\u65e5", "\u2581 \u65e5\u672c \u65e5", [3, 19, 0]],
    ["\uff21\uff22\uff21xb", "\u2581 a b a b", [3, 15, 16, 15, 16]],
    ["\ufb02\u00a0o", "\u2581 f l \u2581 o", [3, 0, 10, 3, 11]],
    ["", "", []],
    ["   ", "", []],
  ])("unigram: %j becomes what SentencePiece makes of it", (text, pieces, ids) => {
    expect(cut(unigram({ charsMap }), text)).toEqual([pieces, ids]);
  });

  test.each([
    ["Hello world.", { spaceIsSuffix: true }, [8, 9, 10, 10, 11, 5, 7, 17, 3]],
    [" Hello  world ", { spaceIsSuffix: true }, [8, 9, 10, 10, 11, 5, 7, 3]],
    ["Hello world.", { addDummyPrefix: false, removeExtraSpaces: false }, [8, 9, 10, 10, 11, 5, 7, 17]],
    [" Hello  world ", { addDummyPrefix: false, removeExtraSpaces: false }, [4, 3, 5, 7, 3]],
    ["Hello world", { escapeSpaces: false }, [0, 8, 9, 10, 10, 11, 0, 12, 11, 13, 7]],
    ["Hello  <sep>", { escapeSpaces: false }, [0, 8, 9, 10, 10, 11, 0, 18]],
  ])("unigram: %j with %j", (text, given, ids) => {
    expect(cut(unigram(given), text)[1]).toEqual(ids);
  });

  test.each([
    ["hello", "\u2581hello", [264]],
    ["hello hello", "\u2581hello \u2581hello", [264, 264]],
    ["h<sep>ello", "\u2581h <sep> el lo", [261, 259, 262, 260]],
    ["caf\u00e9", "\u2581 <0x63> a <0x66> <0xC3> <0xA9>", [268, 102, 274, 105, 198, 172]],
    ["aaaaa", "\u2581 aaaa a", [268, 267, 274]],
    ["aa", "\u2581 a a", [268, 274, 274]],
    ["aaa", "\u2581 a a a", [268, 274, 274, 274]],
    ["<0x41>", "\u2581 <0x3C> <0x30> <0x78> <0x34> <0x31> <0x3E>", [268, 63, 51, 123, 55, 52, 65]],
    ["wow \u{1f600}", "\u2581 w o w \u2581 <0xF0> <0x9F> <0x98> <0x80>", [268, 273, 272, 273, 268, 243, 162, 155, 131]],
  ])("BPE: %j becomes what SentencePiece makes of it", (text, pieces, ids) => {
    expect(cut(bpe, text)).toEqual([pieces, ids]);
  });

  test("numbers of tokens are found by their text, and those around a text by the file", () => {
    expect([bpe.idOf("<s>"), bpe.idOf("<0x41>"), bpe.idOf("aa"), bpe.idOf("none")]).toEqual([1, 68, 266, undefined]);
    expect([bpe.begin, bpe.end]).toEqual([1, 2]);
    const unreserved = createSentencePiece(
      sentencePieceFile([
        ["<unk>", 0, 2],
        ["a", -1],
        ["b", -2],
      ]),
    );
    expect([unreserved.begin, unreserved.end]).toEqual([undefined, undefined]);
  });

  test("gives no more tokens than are wanted", () => {
    expect(bpe.encode("caf\u00e9", 2)).toHaveLength(2);
    expect(bpe.encode("caf\u00e9", 0)).toEqual([]);
    expect(unigram().encode("zzzz", 1)).toHaveLength(1);
  });

  test("what falls back to bytes can be put together again", () => {
    const names: GivenPiece[] = bpePieces.filter(([, , type]) => type !== 4 && type !== 5).map((piece) => piece);
    for (const algorithm of [1, 2]) {
      const file = sentencePieceFile(names, {
        algorithm,
        byteFallback: true,
        addDummyPrefix: false,
        removeExtraSpaces: false,
      });
      const tokenizer = createSentencePiece(file);
      fc.assert(
        fc.property(fc.string({ unit: "binary", maxLength: 100 }), (text) => {
          const bytes = tokenizer.encode(text, all).flatMap((token) => {
            const [, digits] = /^<0x(..)>$/.exec(token.text) ?? [];
            return digits === undefined ? [...new TextEncoder().encode(token.text)] : [Number.parseInt(digits, 16)];
          });
          const given = new TextDecoder().decode(new TextEncoder().encode(text)).replaceAll(" ", "\u2581");
          expect(new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(bytes))).toBe(
            given.replace(/^\ufeff/, given.startsWith("\ufeff") ? "\ufeff" : ""),
          );
        }),
      );
    }
  });

  test("half a character is the replacement character", () => {
    for (const tokenizer of [unigram(), bpe]) expect(cut(tokenizer, "a\ud800")).toEqual(cut(tokenizer, "a\ufffd"));
  });

  test("a megabyte of text is cut, of words and of one letter", () => {
    expect(unigram().encode("Hello world.".repeat(2 ** 16), all).length).toBeGreaterThan(2 ** 16);
    expect(bpe.encode("hello ".repeat(2 ** 17), all)).toHaveLength(2 ** 17);
    expect(bpe.encode("a".repeat(2 ** 18), all)).toHaveLength(2 ** 16 + 1);
  });
});

describe("the file of a SentencePiece model", () => {
  const unknown: GivenPiece = ["<unk>", 0, 2];
  const tail = (...bytes: readonly number[]) => Uint8Array.from([...sentencePieceFile([unknown, ["a", -1]]), ...bytes]);

  test.each([
    ["no pieces", sentencePieceFile([]), "none of the 0 pieces of its SentencePiece model is the unknown one"],
    [
      "two unknown pieces",
      sentencePieceFile([unknown, ["x", 0, 2]]),
      "the pieces 0 and 1 of its SentencePiece model are both the unknown one",
    ],
    ["an empty piece", sentencePieceFile([unknown, ["", 0]]), "piece 1 has 0 bytes; 1 to 512 are supported"],
    [
      "a long piece",
      sentencePieceFile([unknown, ["a".repeat(513), 0]]),
      "piece 1 has 513 bytes; 1 to 512 are supported",
    ],
    ["a score of NaN", sentencePieceFile([["a", Number.NaN]]), "piece 0 has the score NaN"],
    ["a type that is not known", sentencePieceFile([["a", 0, 7]]), "piece 0 has the type 7; 1 to 6 are known"],
    [
      "a byte that is none",
      sentencePieceFile([unknown, ["<0x4>", 0, 6]]),
      "piece 1 of its SentencePiece model is not a byte",
    ],
    ["bytes that are missing", sentencePieceFile([unknown], { byteFallback: true }), "has no piece for the byte 0"],
    [
      "another algorithm",
      sentencePieceFile([unknown], { algorithm: 3 }),
      "is of the type 3; unigram (1) and BPE (2) are supported",
    ],
    ["a field that ends too early", tail(0x0a), "its SentencePiece model is broken at byte"],
    ["a length that is too large", tail(0x0a, 0x05, 0x00), "its SentencePiece model is broken at byte"],
    [
      "a number without an end",
      tail(0x20, ...Array<number>(10).fill(0xff)),
      "its SentencePiece model is broken at byte",
    ],
    ["a kind of field that is not known", tail(0x0b), "its SentencePiece model is broken at byte"],
    ["pieces that are numbers", tail(...integerField(1, 5)), "field 1 of its SentencePiece model is not bytes"],
    [
      "a map without a tree",
      sentencePieceFile([unknown], { charsMap: Uint8Array.of(0, 0, 0, 0) }),
      "its map of characters of 4 bytes has a tree of 0",
    ],
    [
      "a map whose tree is too long",
      sentencePieceFile([unknown], { charsMap: Uint8Array.of(8, 0, 0, 0, 1, 1, 1, 1) }),
      "of 8 bytes has a tree of 8",
    ],
    ["many bytes", new Uint8Array(2 ** 24 + 1), "16777217 bytes; 16777216 are the most"],
  ])("with %s is refused", (_, file, message) => {
    expect(() => createSentencePiece(file)).toThrow(NetworkError);
    expect(() => createSentencePiece(file)).toThrow(message);
  });

  test("pieces of 512 bytes, and fields of any other kind, are read", () => {
    expect(() => createSentencePiece(sentencePieceFile([unknown, ["a".repeat(512), 0]]))).not.toThrow();
    const more = [...bytesField(4, [1, 2]), 0x2d, 0, 0, 0, 0, 0x31, 0, 0, 0, 0, 0, 0, 0, 0, ...integerField(7, 300)];
    expect(createSentencePiece(tail(...more)).encode("a", all)).toHaveLength(2);
  });

  test("a map of characters that makes too much of a text is refused when it does", () => {
    const tokenizer = (length: number) =>
      createSentencePiece(sentencePieceFile([unknown], { charsMap: longMap(length) }));
    expect(tokenizer(100).encode("bbbb", all)).toHaveLength(1);
    expect(() => tokenizer(5000).encode("bbbb", all)).toThrow(
      "its map of characters makes more than 1152 bytes of a text",
    );
  });

  test("a map of characters that makes much of a text is refused when it does, also of spaces that are left out", () => {
    const file = (length: number) => sentencePieceFile([unknown], { charsMap: longMap(length, 0x20) });
    expect(createSentencePiece(file(230)).encode("bbbb", all)).toEqual([]);
    expect(() => createSentencePiece(file(300)).encode("bbbb", all)).toThrow("makes more than 1152 bytes of a text");
    const long = createSentencePiece(file(2 ** 20));
    expect(() => long.encode("b".repeat(2 ** 14), all)).toThrow("makes more than 525312 bytes of a text");
  });

  test("a part that is there ten thousand times is read as fast as one", () => {
    const fields = Array.from({ length: 40_000 }, (_, place) => integerField(100 + place, 1)).flat();
    const again = Array.from({ length: 10_000 }, () => bytesField(2, [])).flat();
    const one = [...bytesField(2, [...integerField(3, 2), ...fields]), ...bytesField(3, fields)];
    const file = (...parts: readonly number[][]) => Uint8Array.from([...tail(), ...parts.flat()]);
    expect(createSentencePiece(file(one, again)).encode("a", all)).toHaveLength(2);
    expect(() => createSentencePiece(file(one, bytesField(2, integerField(3, 4))))).toThrow("of the type 4");
  });

  test("a text that takes too many steps with its pieces is refused", () => {
    const long = Array.from({ length: 511 }, (_, place): GivenPiece => ["a".repeat(place + 1), -1]);
    for (const algorithm of [1, 2]) {
      const tokenizer = createSentencePiece(sentencePieceFile([unknown, ...long], { algorithm }));
      expect(tokenizer.encode("a".repeat(2 ** 10), all).length).toBeGreaterThan(1);
      expect(() => tokenizer.encode("a".repeat(2 ** 14), all)).toThrow("takes more than 5242880 steps for this text");
      // The steps are those of each text.
      expect(tokenizer.encode("a".repeat(2 ** 10), all).length).toBeGreaterThan(1);
    }
  });

  test("any change of a file leads to tokens or to a NetworkError", () => {
    const files = [
      sentencePieceFile(unigramPieces, { charsMap: longMap(3) }),
      sentencePieceFile(bpePieces, { algorithm: 2, byteFallback: true }),
    ];
    const change = fc.tuple(fc.nat(), fc.nat(255));
    fc.assert(
      fc.property(fc.constantFrom(...files), fc.array(change, { minLength: 1, maxLength: 4 }), (file, changes) => {
        const bytes = file.slice();
        for (const [at, value] of changes) bytes[at % bytes.length] = value;
        try {
          createSentencePiece(bytes).encode("Hello b<sep> \u65e5 hello aaaa", all);
        } catch (error) {
          expect(error).toBeInstanceOf(NetworkError);
        }
      }),
    );
  });
});

/** A map from b to as many letters a, or other characters: one node. */
function longMap(length: number, character = 0x61): Uint8Array {
  const tree = new Uint32Array(4 * 256).fill(0x8000_0000);
  tree[0] = 256 << 10;
  tree[256 + 0x62] = ((((256 + 0x62) ^ 512) << 10) | 0x100 | 0x62) >>> 0;
  tree[512] = 0x8000_0000;
  const head = Uint32Array.of(tree.byteLength);
  return Uint8Array.from([
    ...new Uint8Array(head.buffer),
    ...new Uint8Array(tree.buffer),
    ...Array<number>(length).fill(character),
    0,
  ]);
}
