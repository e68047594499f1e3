import { expect, test } from "vitest";
import { publicMessageOf, RequestError, shortText, withoutFolders } from "./errors.ts";
import { encodeDetails } from "./grpc-status.ts";

test.each([
  ["plain", "plain"],
  ["100 % of é", "100 %25 of %C3%A9"],
  ["\n", "%0A"],
  ["half \ud83d", "half %EF%BF%BD"],
])("details %j are %j", (text, encoded) => {
  expect(encodeDetails(text)).toBe(encoded);
  expect(decodeURIComponent(encoded)).toBe(text.replace("\ud83d", "\ufffd"));
});

test("details of any length are short, and end with a whole character", () => {
  for (const text of ["a".repeat(100_000), "\u{1f600}".repeat(50_000), `a${"é".repeat(5000)}`, "%".repeat(9000)]) {
    const encoded = encodeDetails(text);
    expect(encoded.length).toBeLessThanOrEqual(2048);
    expect(encoded.length).toBeGreaterThan(2000);
    expect(text.startsWith(decodeURIComponent(encoded))).toBe(true);
  }
});

test("a text is cut between characters, and well-formed", () => {
  expect(shortText("abc", 3)).toBe("abc");
  expect(shortText("abcd", 3)).toBe("ab…");
  expect(shortText("\u{1f600}".repeat(3), 3)).toBe("\u{1f600}".repeat(3));
  expect(shortText("\u{1f600}".repeat(4), 3)).toBe(`${"\u{1f600}".repeat(2)}…`);
  expect(shortText(`${"a".repeat(199)}\u{1f600}b`, 200)).toBe(`${"a".repeat(199)}…`);
  expect(shortText("a\ud83d", 3)).toBe("a\ufffd");
});

test("clients are not told of the server's own errors, nor of its folders", () => {
  expect(publicMessageOf(new Error("ENOENT: /srv/models"))).toBe("the server failed; its log has the reason");
  expect(publicMessageOf(new RequestError("invalid", "x".repeat(5000)))).toHaveLength(1000);
  expect(withoutFolders("ENOENT: no such file or directory, scandir '/srv/my/models/a'")).toBe(
    "ENOENT: no such file or directory, scandir 'a'",
  );
  expect(withoutFolders("the model has no input; 1/2")).toBe("the model has no input; 1/2");
});
