import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NetworkError } from "../error.ts";
import { createRegexTokenizer } from "./regex.ts";

const vocabulary = new TextEncoder().encode("<PAD> 0\n<START> 1\n<UNKNOWN> 2\ngood 3\nbad 4\n\nit's 7\n");
const wordsOf = (pattern: string, text: string) =>
  createRegexTokenizer(pattern, vocabulary)
    .encode(text, Number.POSITIVE_INFINITY)
    .map((token) => token.text);

describe("createRegexTokenizer", () => {
  test("cuts at the pattern of Model Maker, and numbers tokens by the vocabulary", () => {
    const tokenizer = createRegexTokenizer("[^\\w\\']+", vocabulary);
    expect(tokenizer.encode("good    bad\t", 10)).toEqual([
      { text: "good", id: 3 },
      { text: "bad", id: 4 },
    ]);
    expect(tokenizer.encode(", it's fine.", 10)).toEqual([
      { text: "it's", id: 7 },
      { text: "fine", id: 2 },
    ]);
    expect(tokenizer.encode("good bad good", 2)).toHaveLength(2);
    expect(tokenizer.encode("", 10)).toEqual([]);
    expect([tokenizer.idOf("<START>"), tokenizer.idOf("none")]).toEqual([1, undefined]);
  });

  test.each([
    ["\\s+", "a b\n c", ["a", "b", "c"]],
    ["a|ab", "xaby", ["x", "by"]],
    ["ab|a", "xaby", ["x", "y"]],
    ["a+?", "xaay", ["x", "y"]],
    ["(?U)a+", "xaay", ["x", "y"]],
    ["a{2,3}", "xaaaay", ["x", "ay"]],
    ["a{2}", "xaaay", ["x", "ay"]],
    ["x{,2}", "ax{,2}b", ["a", "b"]],
    ["(?:a(b)?)+", "xabaay", ["x", "y"]],
    ["(?P<sep>-)", "a-b", ["a", "b"]],
    ["(?i)AND", "aAnDb", ["a", "b"]],
    ["x(?i)y|z", "aZbxYc", ["a", "b", "c"]],
    ["x(?i:y)Z", "axYzxyZb", ["axYz", "b"]],
    [".", "ab\nc", ["\n"]],
    ["(?s).", "a\nc", []],
    ["^a", "aab", ["b"]],
    ["(?m)^-", "-a\n-b", ["a\n", "b"]],
    ["-$", "a-b-", ["a-b"]],
    ["\\b-\\b", "a-b- c", ["a", "b- c"]],
    ["\\B-", "a- -b", ["a- ", "b"]],
    ["[[:punct:][:^ascii:]]", "a!b\u00e9c", ["a", "b", "c"]],
    ["[\\p{L}]", "1a2\u00e93", ["1", "2", "3"]],
    ["\\P{L}+", "a12b", ["a", "b"]],
    ["\\p{Greek}", "a\u03b1b", ["a", "b"]],
    ["\\pN", "a1b", ["a", "b"]],
    ["[]a-c-]", "1]2b3-4", ["1", "2", "3", "4"]],
    ["[^a-z]", "a1b\u{1f600}c", ["a", "b", "c"]],
    ["\\x{1F600}", "a\u{1f600}c", ["a", "c"]],
    ["\\x2C", "a,c", ["a", "c"]],
    ["[\\d\\W]", "a1b c", ["a", "b", "c"]],
    ["\\.", "a.b", ["a", "b"]],
  ])("%s cuts %j", (pattern, text, expected) => {
    expect(wordsOf(pattern, text)).toEqual(expected);
  });

  test.each([
    ["", "it has no regular expression"],
    ["(a", 'regular expression "(a": a group does not end at character 2'],
    ["a)", "a parenthesis has no beginning"],
    ["[a", "it ends too early"],
    ["a**", "a repetition is repeated"],
    ["*", "there is nothing to repeat"],
    ["a{3,2}", "{3,2} is not a repetition of up to 1000"],
    ["a{1001}", "{1001} is not a repetition of up to 1000"],
    ["(a)\\1", "\\1 is not supported"],
    ["(?=a)", "(?= is not supported"],
    ["(?<!a)", "(?< is not supported"],
    ["\\p{Nothing}", '"Nothing" is not a Unicode property'],
    ["[[:nothing:]]", "[:nothing:] is not a class"],
    ["[b-a]", "a range ends before it begins"],
    ["\\x{110000}", "\\x is not followed by the number of a character"],
    ["a*", "matches an empty text"],
    ["((a{100}){100}){100}", "takes more than 5000 steps"],
    ["((((){1000}){1000}){1000})", "repeats more than 100000 parts"],
    ["(".repeat(300), "groups are more than 200 deep"],
    ["a".repeat(10_001), "10001 characters; 10000 are the most"],
  ])("%s is refused", (pattern, message) => {
    const work = () => wordsOf(pattern, "b");
    expect(work).toThrow(NetworkError);
    expect(work).toThrow(message);
  });

  test.each([
    ["<UNKNOWN> 1", "has no <PAD>"],
    ["<PAD> 1", "has no <UNKNOWN>"],
    ["<PAD>", 'line 1 of its vocabulary is "<PAD>", not a token and its number'],
    ["<PAD> x", 'line 1 of its vocabulary is "<PAD> x"'],
  ])("the vocabulary %j is refused", (lines, message) => {
    expect(() => createRegexTokenizer("a", new TextEncoder().encode(lines))).toThrow(message);
  });

  test("patterns that other engines try again and again are linear, and those that look ahead everywhere are ended", () => {
    expect(wordsOf("(a*)*b", `${"a".repeat(50_000)}b`)).toEqual([]);
    expect(wordsOf("(a|aa)+$", `${"a".repeat(50_000)}!`)).toHaveLength(1);
    expect(() => wordsOf("(a.*b|a)", "a".repeat(50_000))).toThrow("steps for this text");
  });

  test("cuts as JavaScript does at patterns that mean the same in both", () => {
    const pattern = fc.constantFrom(
      "[^\\w']+",
      "\\s+",
      "a|bc?",
      "(?:ab|a)(?:c|bcd)?",
      "[a-c]{2,3}?",
      "\\ba",
      "b+?c*",
      "(a|b)*c",
    );
    fc.assert(
      fc.property(
        pattern,
        fc.string({ unit: fc.constantFrom("a", "b", "c", "d", " ", "'", "\u00e9", "\ud800"), maxLength: 30 }),
        (own, text) => {
          const expected: string[] = [];
          // Each match is looked for in what is left of the text.
          let rest = text;
          for (let match = new RegExp(own).exec(rest); match !== null; match = new RegExp(own).exec(rest)) {
            expected.push(rest.slice(0, match.index));
            rest = rest.slice(match.index + match[0].length);
          }
          expect(wordsOf(own, text)).toEqual([...expected, rest].filter((word) => word !== ""));
        },
      ),
    );
  });

  test("a set that is repeated is made once", () => {
    const letters = Array.from({ length: 9000 }, (_, place) => String.fromCodePoint(0x4e00 + 2 * place)).join("");
    expect(wordsOf(`[${letters}]{900}`, "ab")).toEqual(["ab"]);
    expect(wordsOf(`(?i)[${"\\p{Han}".repeat(1200)}]{900}`, "ab")).toEqual(["ab"]);
  });

  test("a megabyte of text is cut", () => {
    expect(wordsOf("[^\\w\\']+", "good bad, ".repeat(100_000))).toHaveLength(200_000);
  });
});
