import { isExtensionName } from "@nnhal/operations";
import { expect, it } from "vitest";
import { ownWords, problemOfExtensionName } from "./names.ts";

it.each(["a.b", "com.example.x_1", "a", "", "a.", ".a", "a..b", "A.b", "a.b-c", "a.b c", "a.é", "1.2", "a.b\\n"])(
  "%j is a name of an extension exactly if @nnhal/operations takes it",
  (name) => {
    expect(problemOfExtensionName(name) === undefined).toBe(isExtensionName(name));
  },
);

it.each([
  ["@acme/nnhal-backend-fast-npu", ["fast", "npu"]],
  ["npu", ["npu"]],
  ["npu2_x.y", ["npu2", "x", "y"]],
  ["nnhal-extension", []],
])("the own words of %s are %j", (name, words) => {
  expect(ownWords(name)).toEqual(words);
});
