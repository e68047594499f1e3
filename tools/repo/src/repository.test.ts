import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { generateAll, staleFiles, writeGenerated } from "./generate.ts";
import { describedManifest, describedPackages, repositoryOf, withAbsoluteLinks } from "./repository.ts";

const address = "https://example.com/owner/name";
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "nnhal-repository-"));
});
afterEach(() => rmSync(root, { recursive: true }));

function put(path: string, content: string | object): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), typeof content === "string" ? content : `${JSON.stringify(content, null, 2)}\n`);
}

describe("the address of the repository", () => {
  test("is not known until it is in package.json", () => {
    put("package.json", { name: "all" });
    put("packages/one/package.json", { name: "one", license: "MIT" });
    expect(repositoryOf(root)).toBeUndefined();
    expect(describedPackages(root)).toEqual([]);
  });

  test.each([{}, "", "owner/name", `${address}/`, `${address}.git`, "https://example.com/name", 1])(
    "is not %j",
    (wrong) => {
      put("package.json", { repository: wrong });
      expect(() => repositoryOf(root)).toThrow("not an address such as");
    },
  );

  test("is written into each published package by generate, once", () => {
    put("package.json", { repository: address });
    put("packages/one/package.json", { name: "one", license: "MIT", bugs: "old", type: "module" });
    put("packages/one/README.md", "See [the guide](../../docs/guide.md#start).\n");
    put("packages/tests/package.json", { name: "tests", private: true });
    put("apps/cli/package.json", { name: "cli", license: "MIT", type: "module" });
    const generated = generateAll(root);
    expect(writeGenerated(root, generated)).toEqual([
      "apps/cli/package.json",
      "packages/one/package.json",
      "packages/one/README.md",
    ]);
    expect(JSON.parse(readFileSync(join(root, "packages/one/package.json"), "utf8"))).toEqual({
      name: "one",
      license: "MIT",
      homepage: `${address}/tree/main/packages/one#readme`,
      repository: { type: "git", url: `git+${address}.git`, directory: "packages/one" },
      bugs: `${address}/issues`,
      type: "module",
    });
    expect(staleFiles(root, generateAll(root))).toEqual([]);
  });

  test("comes behind the licence", () => {
    const given = '{\n  "name": "a",\n  "license": "MIT",\n  "keywords": ["b"],\n  "type": "module"\n}\n';
    const text = describedManifest(given, "packages/a", address);
    expect(text).toContain('\n  "keywords": ["b"],\n');
    expect(Object.keys(JSON.parse(text))).toEqual([
      "name",
      "license",
      "homepage",
      "repository",
      "bugs",
      "keywords",
      "type",
    ]);
    expect(describedManifest(text, "packages/a", address)).toBe(text);
  });
});

test.each([
  ["[a](../../docs/a.md)", `[a](${address}/blob/main/docs/a.md)`],
  [
    "[a](demo) and [b](src/b.ts#L1)",
    `[a](${address}/blob/main/apps/cli/demo) and [b](${address}/blob/main/apps/cli/src/b.ts#L1)`,
  ],
  ["[a](#place) [b](https://example.com) [c](mailto:a@b.c)", "[a](#place) [b](https://example.com) [c](mailto:a@b.c)"],
])("the links of %j become absolute", (text, expected) => {
  expect(withAbsoluteLinks(text, "apps/cli", address)).toBe(expected);
});
