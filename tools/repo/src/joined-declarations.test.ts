import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import {
  type DeclaredManifest,
  declaredEntries,
  joinDeclarations,
  withDisposalLibrary,
  withNamespaceConstants,
} from "./joined-declarations.ts";

test("a namespace exports constants that are types too as both; types stay types", () => {
  const joined = (status: string, outcome: string) => `declare const Status: { readonly NONE: 0 };
type Status = (typeof Status)[keyof typeof Status];
interface Model {}
type v10_d_Status = Status;
type v10_d_Model = Model;
declare namespace v10_d {
  export { Range$1 as Range };
  export ${status}v10_d_Model as Model, ${outcome};
}
`;
  expect(withNamespaceConstants(joined("type { v10_d_Status as Status, ", "Outcome$1 as Outcome }"))).toBe(
    joined("{ Status, type ", "type Outcome$1 as Outcome }"),
  );
});

test("a namespace exports constants of a shared file with their types", () => {
  const joined = `import { A as Status } from './shared-x.js';
declare const v10_d_Range: { readonly BASE: 0 };
declare const v10_d_Status: typeof Status;
declare namespace v10_d {
  export { v10_d_Range as Range, v10_d_Status as Status, Outcome$1 as Outcome };
}
`;
  expect(withNamespaceConstants(joined)).toBe(`import { A as Status } from './shared-x.js';
declare const v10_d_Range: { readonly BASE: 0 };
declare namespace v10_d {
  export { v10_d_Range as Range, Status, Outcome$1 as Outcome };
}
`);
});

test.each([
  ["interface A { [Symbol.dispose](): void }", true],
  ["interface A { [Symbol.asyncDispose](): void }", true],
  ["declare function use(it: AsyncDisposable): void", true],
  ["interface A { dispose(): void; isDisposable: boolean }", false],
])("%s needs the library of disposal: %j", (declarations, needsIt) => {
  const reference = '/// <reference lib="esnext.disposable" />\n';
  expect(withDisposalLibrary(declarations)).toBe(needsIt ? reference + declarations : declarations);
});

test.each<[string, unknown, string[]]>([
  ["an entry", { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" } }, ["index"]],
  [
    "entries by platform",
    { "./w": { node: { types: "./dist/w-n.d.ts" }, default: { types: "./dist/w-b.d.ts" } } },
    ["w-n", "w-b"],
  ],
  ["an entry in a folder", { "./a": { types: "./dist/a/index.d.ts" } }, ["a/index"]],
  ["a file", { "./package.json": "./package.json" }, []],
  ["nothing", undefined, []],
])("declaredEntries of %s", (_, exports, entries) => {
  expect(declaredEntries(exports)).toEqual(entries);
});

test("declaredEntries throws if declarations are elsewhere", () => {
  expect(() => declaredEntries({ ".": { types: "./index.d.ts" } })).toThrow("must be in ./dist, not ./index.d.ts");
});

test("declaredEntries throws if the declarations would be those of another source", () => {
  const exportsOf = (source: string) => ({ "./a": { "@nnhal/source": source, types: "./dist/a.d.ts" } });
  expect(declaredEntries(exportsOf("./src/a.ts"))).toEqual(["a"]);
  expect(() => declaredEntries(exportsOf("./src/other-a.ts"))).toThrow(
    "the declarations of ./src/other-a.ts must be at its path in ./dist, not ./dist/a.d.ts",
  );
});

describe("joinDeclarations", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "nnhal-declarations-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const files = {
    "index.d.ts": 'export { a } from "./a.js";\nexport type { Stats } from "node:fs";\n',
    "a.d.ts": 'import type { B } from "./deep/b.js";\n/** The one. */\nexport declare const a: B;\n',
    "deep/b.d.ts": 'import type { Known } from "@x/known/part";\nexport type B = Known;\n',
    "unused.d.ts": 'export type { Gone } from "gone";\n',
  };
  const one = { ".": { types: "./dist/index.d.ts" } };

  async function joinFiles(more: Readonly<Record<string, string>>, manifest: Partial<DeclaredManifest>) {
    for (const [path, text] of Object.entries({ ...files, ...more })) {
      mkdirSync(dirname(join(folder, "from", path)), { recursive: true });
      writeFileSync(join(folder, "from", path), text);
    }
    await joinDeclarations(join(folder, "from"), join(folder, "to"), { name: "@x/one", exports: one, ...manifest });
    const paths = readdirSync(join(folder, "to"), { recursive: true, encoding: "utf8" }).filter((path) =>
      path.endsWith(".ts"),
    );
    return new Map(paths.map((path) => [path, readFileSync(join(folder, "to", path), "utf8")]));
  }

  it.each(["dependencies", "peerDependencies"] as const)(
    "writes one file for an entry; packages of %s are imported",
    async (list) => {
      const made = await joinFiles({}, { [list]: { "@x/known": "1" } });
      expect([...made.keys()]).toEqual(["index.d.ts"]);
      const [text] = made.values();
      expect(text).toMatch(/\/\*\* The one\. \*\/\ndeclare const a: B;/);
      expect(text).toContain("import { Known } from '@x/known/part'");
      expect(text).not.toContain("./");
    },
  );

  it("writes what entries share once", async () => {
    const exports = { ...one, "./two": { types: "./dist/two/index.d.ts" } };
    const two = 'import type { B } from "../deep/b.js";\nexport declare const two: B;\n';
    const index = `${files["index.d.ts"]}export type { B } from "./deep/b.js";\n`;
    const made = await joinFiles(
      { "index.d.ts": index, "two/index.d.ts": two },
      { exports, dependencies: { "@x/known": "1" } },
    );
    expect(made.size).toBe(3);
    expect([...made.values()].filter((text) => text.includes("type B = "))).toHaveLength(1);
  });

  it("throws if a type is of a package that users do not have", async () => {
    await expect(joinFiles({}, {})).rejects.toThrow(
      "@x/one declares types with @x/known/part, which is not a dependency of it",
    );
  });

  it("throws if an entry has no declarations, or a part of one is missing", async () => {
    await expect(joinFiles({}, { exports: { "./b": { types: "./dist/b.d.ts" } } })).rejects.toThrow(
      /^@x\/one has no declarations of b: .*b\.d\.ts does not exist$/,
    );
    await expect(joinFiles({ "a.d.ts": 'export { a } from "./missing.js";\n' }, {})).rejects.toThrow(/missing/);
  });

  it("writes nothing for a package without types", async () => {
    await joinDeclarations(join(folder, "from"), join(folder, "to"), { name: "@x/command" });
    expect(readdirSync(folder)).toEqual([]);
  });
});
