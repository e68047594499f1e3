import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { entriesOf, packingProblems, tarballOf, typeProblems } from "./packed.ts";
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
      // A target that depends on the platform has these conditions for each.
      const { node, default: other } = Object(target);
      for (const conditions of node === undefined ? [target] : [node, other]) {
        const names = Object.keys(Object(conditions)).filter((name) => name !== "browser");
        expect(names, `${folder} ${path}`).toEqual(["@nnhal/source", "types", "default"]);
      }
    }
  }
});

const folder = mkdtempSync(join(tmpdir(), "nnhal-packed-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Packs a package of some files, as npm does. */
function tarballWith(files: Readonly<Record<string, string>>): string {
  const source = mkdtempSync(join(folder, "source-"));
  const manifest = {
    ...{ name: "made-up", version: "1.0.0", type: "module" },
    exports: {
      ".": { types: "./index.d.ts", default: "./index.js" },
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
  "index.d.ts": "export declare const a: number;",
};

describe("a packed package", () => {
  test("is as npm expects", async () => {
    expect(await packingProblems(tarballWith(whole))).toEqual([]);
  });

  test("is found to lack a file that it names", async () => {
    const { "index.js": _, ...rest } = whole;
    expect(await packingProblems(tarballWith(rest))).toEqual([
      'pkg.exports["."].default is ./index.js but the file does not exist.',
    ]);
  });

  test("is found to have a file of another format than its name says", async () => {
    const files = { ...whole, "index.js": "exports.a = 1;" };
    expect((await packingProblems(tarballWith(files))).join("\n")).toContain("CJS");
  });
});

describe("the declarations of a packed package", () => {
  test("fit", async () => {
    expect(await typeProblems(tarballWith(whole))).toEqual([]);
  });

  test("are found missing for one entry", async () => {
    const manifest = {
      ...{ name: "made-up", version: "1.0.0", type: "module" },
      exports: { ".": { types: "./index.d.ts", default: "./index.js" }, "./other": "./other.js" },
    };
    const files = { ...whole, "other.js": "export const b = 1;", "package.json": JSON.stringify(manifest) };
    expect(await typeProblems(tarballWith(files))).toEqual([
      'Could not find types: {"entrypoint":"./other","resolutionKind":"node16-esm"}',
      'Could not find types: {"entrypoint":"./other","resolutionKind":"bundler"}',
    ]);
  });

  test("are found to be of the wrong module kind", async () => {
    const { "index.d.ts": _, ...rest } = whole;
    const manifest = {
      ...{ name: "made-up", version: "1.0.0", type: "module" },
      exports: { ".": { types: "./index.d.cts", default: "./index.js" } },
    };
    const files = { ...rest, "index.d.cts": whole["index.d.ts"], "package.json": JSON.stringify(manifest) };
    const problems = await typeProblems(tarballWith(files));
    expect(problems.join("\n")).toMatch(
      /^Types are CJS, but implementation is ESM: .*"\/node_modules\/made-up\/index\.d\.cts"/m,
    );
  });

  test("are found missing altogether", async () => {
    const { "index.d.ts": _, ...rest } = whole;
    expect(await typeProblems(tarballWith(rest))).toEqual(["has no declarations"]);
  });
});
