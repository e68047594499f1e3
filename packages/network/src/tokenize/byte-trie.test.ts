import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createByteTrie, longestAt } from "./byte-trie.ts";

describe("createByteTrie", () => {
  test("finds strings, and the longest of those that begin at a place", () => {
    const strings = fc.uniqueArray(fc.uint8Array({ minLength: 1, maxLength: 4, max: 3 }), {
      maxLength: 40,
      selector: String,
    });
    fc.assert(
      fc.property(strings, fc.uint8Array({ maxLength: 12, max: 3 }), (given, text) => {
        const trie = createByteTrie(given.map((bytes, id) => [bytes, id]));
        for (let start = 0; start < text.length; start++) {
          const found = given.filter((bytes) => bytes.every((byte, place) => text[start + place] === byte));
          expect(longestAt(trie, text, start)).toBe(Math.max(0, ...found.map(({ length }) => length)));
          for (let end = start + 1; end <= text.length; end++)
            expect(trie.find(text, start, end)).toBe(
              given.findIndex((each) => String(each) === String(text.slice(start, end))),
            );
        }
      }),
    );
  });

  test("keys that a fixed function of places would put beside each other take no more time", () => {
    // Each byte is the one whose product with the golden ratio has the least bits that a table of this size looks at.
    const total = 120_000;
    const places = 2 ** Math.ceil(Math.log2(2 * total + 3)) - 1;
    const children = new Map<number, number>();
    const strings = Array.from({ length: Math.ceil(total / 500) }, (_, id) => {
      let node = 0;
      const bytes = Uint8Array.from({ length: 500 }, (_each, at) => {
        const place = (byte: number) => (Math.imul(node * 256 + byte, 0x9e3779b1) >>> 8) & places;
        let best = -1;
        for (let byte = 0; byte < 256; byte++)
          if (!(at === 0 && children.has(byte)) && (best < 0 || place(byte) < place(best))) best = byte;
        const key = node * 256 + Math.max(0, best);
        if (!children.has(key)) children.set(key, children.size + 1);
        node = children.get(key) ?? 0;
        return Math.max(0, best);
      });
      return [bytes, id] as const;
    });
    const trie = createByteTrie(strings);
    for (const [bytes, id] of strings) expect(trie.find(bytes, 0, bytes.length)).toBe(id);
  });
});
