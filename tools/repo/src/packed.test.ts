import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { entriesOf, tarballOf, typeProblems } from "./packed.ts";
import { readWorkspace, workspaceRoot } from "./workspace.ts";

test("the entries are what an import can name", () => {
  const exports = { "./device": {}, "./memory": {}, "./package.json": "./package.json" };
  expect(entriesOf({ name: "@nnhal/x", exports })).toEqual(["@nnhal/x/device", "@nnhal/x/memory"]);
  expect(entriesOf({ name: "@nnhal/x", exports: { ".": {} } })).toEqual(["@nnhal/x"]);
  expect(entriesOf({ name: "@nnhal/x" })).toEqual([]);
  // A command that another command imports.
  const bin = { x: "./dist/main.js" };
  expect(entriesOf({ name: "@nnhal/x", exports: { ".": {}, "./main": "./dist/main.js" }, bin })).toEqual(["@nnhal/x"]);
});

test("every published package says where its source is, before anything else", () => {
  const published = readWorkspace(workspaceRoot).filter(({ manifest }) => manifest.private !== true);
  expect(published.length).toBeGreaterThan(0);
  for (const { folder, manifest } of published) {
    const entries = new Set(entriesOf(manifest));
    for (const [path, target] of Object.entries(manifest.exports ?? {})) {
      if (!entries.has(manifest.name + path.slice(1))) continue;
      // What depends on the platform has these conditions for each.
      const { node, default: other } = Object(target);
      for (const conditions of node === undefined ? [target] : [node, other]) {
        expect(Object.keys(Object(conditions)), `${folder} ${path}`).toEqual(["@nnhal/source", "import", "require"]);
      }
    }
  }
});

describe("the declarations of a packed package", () => {
  const folder = mkdtempSync(join(tmpdir(), "nnhal-packed-test-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  /** Packs a package of some files, as npm does. */
  function tarballWith(files: Readonly<Record<string, string>>): string {
    const source = mkdtempSync(join(folder, "source-"));
    const manifest = {
      ...{ name: "made-up", version: "1.0.0", type: "module" },
      exports: {
        ".": {
          import: { types: "./index.d.ts", default: "./index.js" },
          require: { types: "./index.d.cts", default: "./index.cjs" },
        },
      },
    };
    mkdirSync(join(source, "package"));
    for (const [name, text] of Object.entries({ "package.json": JSON.stringify(manifest), ...files })) {
      writeFileSync(join(source, "package", name), text);
    }
    const tarball = join(source, tarballOf(manifest));
    execFileSync("tar", ["-czf", tarball, "-C", source, "package"]);
    return tarball;
  }

  const whole = {
    "index.js": "export const a = 1;",
    "index.cjs": "exports.a = 1;",
    "index.d.ts": "export declare const a: number;",
    "index.d.cts": "export declare const a: number;",
  };

  test("fit both module kinds", async () => {
    expect(await typeProblems(tarballWith(whole))).toEqual([]);
  });

  test("are found missing for one module kind", async () => {
    const { "index.d.cts": _, ...rest } = whole;
    expect(await typeProblems(tarballWith(rest))).toEqual([
      'Could not find types: {"entrypoint":".","resolutionKind":"node16-cjs"}',
    ]);
  });

  test("are found to be of the wrong module kind", async () => {
    const { "index.d.ts": _, ...rest } = whole;
    const manifest = {
      ...{ name: "made-up", version: "1.0.0", type: "module" },
      exports: { ".": { types: "./index.d.cts", default: "./index.js" } },
    };
    const problems = await typeProblems(tarballWith({ ...rest, "package.json": JSON.stringify(manifest) }));
    expect(problems.join("\n")).toMatch(
      /^Types are CJS, but implementation is ESM: .*"\/node_modules\/made-up\/index\.d\.cts"/m,
    );
  });

  test("are found missing altogether", async () => {
    const { "index.d.ts": _, "index.d.cts": __, ...rest } = whole;
    expect(await typeProblems(tarballWith(rest))).toEqual(["has no declarations"]);
  });
});
