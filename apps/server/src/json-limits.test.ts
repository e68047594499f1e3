import { expect, test } from "vitest";
import { checkJson, mostDepth, mostJson, mostParts } from "./json-limits.ts";

const check = (text: string) => checkJson(Buffer.from(text));
const refused = expect.objectContaining({ kind: "tooLarge" });

test("what JSON has is counted before it is parsed, on both sides of each bound", () => {
  check(`[${"1,".repeat(mostJson / 2 - 2)}1]`);
  expect(() => check(`[${"1,".repeat(mostJson / 2)}1]`)).toThrow(refused);
  check(`[${"[],".repeat(mostParts - 2)}[]]`);
  expect(() => check(`[${"[],".repeat(mostParts - 1)}[]]`)).toThrow(refused);
  check(`{${'"a":1,'.repeat(mostParts - 2)}"a":1}`);
  expect(() => check(`{${'"a":1,'.repeat(mostParts - 1)}"a":1}`)).toThrow(refused);
  check("[".repeat(mostDepth) + "]".repeat(mostDepth));
  expect(() => check("[".repeat(mostDepth + 1))).toThrow(refused);
});

test("nothing counts in a text", () => {
  check(`{"a":"${"[{:".repeat(mostParts)}"}`);
  check(`{"a":"\\"${"[".repeat(mostParts)}"}`);
  expect(() => check(`{"a":"\\\\",${"[".repeat(mostParts)}`)).toThrow(refused);
});
