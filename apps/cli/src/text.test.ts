import { describe, expect, it } from "vitest";
import { bar, columns, commandLine, milliseconds, wrapped } from "./text.ts";

describe("text for terminals", () => {
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
    expect(wrapped("list: ", ["a", "b"])).toEqual(["list: a, b"]);
    expect(wrapped("list: ", [item, item, "ccccc"])).toEqual([`list: ${item}, ${item},`, "      ccccc"]);
    expect(wrapped("list: ", [item, `${item}xxxxxx`])).toEqual([`list: ${item}, ${item}xxxxxx`]);
    expect(wrapped("list: ", [item, `${item}xxxxxxx`])).toEqual([`list: ${item},`, `      ${item}xxxxxxx`]);
    expect(wrapped("list: ", ["y".repeat(120)])).toEqual([`list: ${"y".repeat(120)}`]);
  });
});

it("writes a command line that a shell reads as the same words", () => {
  expect(commandLine(["nnhal", "--backend", "./my-backend.js", "--only", "graphs/1.17"])).toBe(
    "nnhal --backend ./my-backend.js --only graphs/1.17",
  );
  expect(commandLine(["a b", "it's", "$x", ""])).toBe(`'a b' 'it'\\''s' '$x' ''`);
});
