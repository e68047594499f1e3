import { expect, test } from "vitest";
import { valueText } from "./errors.ts";

test.each([
  [[1, { toString: false }], '[1,{"toString":false}]'],
  ["a".repeat(100), `"${"a".repeat(78)}…`],
  [undefined, "undefined"],
])("the text of a value", (value, text) => {
  expect(valueText(value)).toBe(text);
});

test("the text of a value that is deeper than a stack", () => {
  const depth = 200_000;
  const value: unknown = JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`);
  expect(valueText(value)).toBe("a value of too many lists or objects inside each other");
});
