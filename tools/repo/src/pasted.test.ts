import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { examplesIn, pastedDocuments } from "./pasted.ts";
import { workspaceRoot } from "./workspace.ts";

describe("the documents whose examples are pasted", () => {
  test.each(pastedDocuments)("%s has some, and each names what it imports and reads", (path) => {
    const examples = examplesIn(readFileSync(join(workspaceRoot, path), "utf8"));
    expect(examples).not.toEqual([]);
    for (const example of examples) {
      expect(example).toMatch(/^import /);
      // Files of a checkout are not where a reader is.
      expect(example).not.toMatch(/"(apps|packages|tools|\.\.?)\//);
    }
  });

  test("only blocks in TypeScript are examples", () => {
    expect(examplesIn("a\n```ts\none();\n```\n```js\ntwo();\n```\n```ts\nthree();\n```\n")).toEqual([
      "one();\n",
      "three();\n",
    ]);
  });
});
