import { expect, test } from "vitest";
import { checkFunctionSizes } from "./function-sizes.ts";

/** A function of a number of lines: its first, its last, and those between. */
const longFunction = (lines: number, head = "function one() {") => `${head}\n${"  work();\n".repeat(lines - 2)}}\n`;

const check = (text: string, path = "a.ts") => checkFunctionSizes([{ path, text: `// the head\n${text}` }]);

test("both sides of the bound of a function", () => {
  expect(check(longFunction(120))).toEqual([]);
  expect(check(longFunction(121))).toEqual(["a.ts: one: expected at most 120 lines, got 121"]);
});

test("comments and empty lines of a function count", () => {
  expect(check(`function one() {\n${"  // why\n\n".repeat(60)}}\n`)).toHaveLength(1);
});

test("both sides of the bound of a class, whose comments and empty lines do not count", () => {
  const classOf = (members: number) =>
    `class One {\n${"  /** Does\n   * it. */\n  // why\n\n  value = 1;\n".repeat(members)}}\n`;
  expect(check(classOf(118))).toEqual([]);
  expect(check(classOf(119))).toEqual(["a.ts: One: expected at most 120 lines, got 121"]);
});

test.each([
  ["a constant", longFunction(121, "const two = () => {"), "two"],
  ["a property", `const table = {\n${longFunction(121, "two: () => {")}};\n`, "two"],
  ["a method", `const table = {\n${longFunction(121, "two() {")}};\n`, "two"],
  ["no name", longFunction(121, "export default () => {"), "a function without a name"],
])("%s names a function", (_, text, name) => {
  expect(check(text)).toEqual([`a.ts: ${name}: expected at most 120 lines, got 121`]);
});

test("a long function in a long function counts by itself", () => {
  expect(check(`function outer() {\n${longFunction(121, "function inner() {")}}\n`)).toEqual([
    "a.ts: outer: expected at most 120 lines, got 123",
    "a.ts: inner: expected at most 120 lines, got 121",
  ]);
});

test("a table outside of functions, tests and generated files can be long", () => {
  expect(check(`const table = {\n${"  one: 1,\n".repeat(200)}};\n`)).toEqual([]);
  expect(check(longFunction(200), "a.test.ts")).toEqual([]);
  expect(check(longFunction(200), "a.gen.ts")).toEqual([]);
});
