import { describe, expect, it } from "vitest";
import { bar, byteText, columns, commandLine, countText, milliseconds, openShapeText, wrapList } from "./text.ts";

describe("text for terminals", () => {
  it("has numbers with the unit that they need", () => {
    const counts = [0, 9999, 10_000, 999_400, 999_500, 300_774_272, 999_499_999, 999_500_000, 1_234_000_000, 2e12];
    expect(counts.map(countText)).toEqual([
      ...["0", "9999", "10 thousand", "999 thousand", "1 million", "301 million", "999 million", "1 billion"],
      ...["1.23 billion", "2 trillion"],
    ]);
    expect([1, 9999, 10_000, 999_949, 999_950, 999_949_999, 999_950_000, 4.2e9].map(byteText)).toEqual([
      ...["1 byte", "9999 bytes", "10.0 kB", "999.9 kB", "1.0 MB", "999.9 MB", "1.0 GB", "4.2 GB"],
    ]);
    expect([9_999, 10_000, 123_456].map(milliseconds)).toEqual(["9999 ms", "10.0 s", "123 s"]);
  });

  it("tells an unknown shape from that of a scalar", () => {
    expect([[], [1], [1, 0, 3], [1, -1, 3]].map(openShapeText)).toEqual([
      ...["of unknown shape", "[1]", "[1, ?, 3]", "[1, ?, 3]"],
    ]);
  });

  it("draws bars in eighths, within their width", () => {
    expect(bar(1, 4)).toBe("████");
    expect(bar(0.5, 4)).toBe("██");
    expect(bar(5 / 32, 4)).toBe("▋");
    expect(bar(0, 4)).toBe("");
    expect([bar(7, 2), bar(-1, 2), bar(Number.NaN, 2)]).toEqual(["██", "", ""]);
  });

  it("aligns columns and leaves no space at the end", () => {
    expect(
      columns([
        ["a", "bbb", "c"],
        ["aa", "b"],
        ["", "b", "c"],
      ]),
    ).toEqual(["a   bbb  c", "aa  b", "    b    c"]);
  });

  it("writes durations with three digits", () => {
    expect([1.234, 9.999, 12.34, 99.94, 123.4].map(milliseconds)).toEqual([
      "1.23 ms",
      "10.00 ms",
      "12.3 ms",
      "99.9 ms",
      "123 ms",
    ]);
  });

  it("wraps lists at 100 columns, below the first item", () => {
    const item = "x".repeat(43);
    expect(wrapList("list: ", ["a", "b"])).toEqual(["list: a, b"]);
    expect(wrapList("list: ", [item, item, "ccccc"])).toEqual([`list: ${item}, ${item},`, "      ccccc"]);
    expect(wrapList("list: ", [item, `${item}xxxxxx`])).toEqual([`list: ${item}, ${item}xxxxxx`]);
    expect(wrapList("list: ", [item, `${item}xxxxxxx`])).toEqual([`list: ${item},`, `      ${item}xxxxxxx`]);
    expect(wrapList("list: ", ["y".repeat(120)])).toEqual([`list: ${"y".repeat(120)}`]);
  });
});

it("writes a command line that a shell reads as the same words", () => {
  expect(commandLine(["nnhal", "--backend", "./my-backend.js", "--only", "graphs/1.17"])).toBe(
    "nnhal --backend ./my-backend.js --only graphs/1.17",
  );
  expect(commandLine(["a b", "it's", "$x", ""])).toBe(`'a b' 'it'\\''s' '$x' ''`);
});
