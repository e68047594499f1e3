import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { checkBuiltFiles, sourcePathsIn } from "./source-paths.ts";

it.each([
  ['new URL("./worker-node.ts", import.meta.url)', ["./worker-node.ts"]],
  ["new URL('../../cli/src/main.mjs', import.meta.url)", ["../../cli/src/main.mjs"]],
  ["import(`./part.mts`)", ["./part.mts"]],
  ['new URL("./worker-node.js", import.meta.url)', []],
  ['import "./src-OOGOAWXG.js"', []],
  ['import.meta.url.endsWith(".ts")', []],
  ["// see ../src/main.ts", []],
])("finds the sources in %s", (script, paths) => {
  expect(sourcePathsIn(script)).toEqual(paths);
});

it("looks into all scripts of a build, also for the comments that bundlers read", () => {
  const root = mkdtempSync(join(tmpdir(), "nnhal-dist-"));
  try {
    const dist = join(root, "packages/a/dist");
    mkdirSync(join(dist, "browser"), { recursive: true });
    writeFileSync(join(dist, "index.js"), 'import "./chunk.js";');
    const packages = [{ folder: "packages/a" }];
    expect(checkBuiltFiles(root, packages)).toEqual([]);
    writeFileSync(join(dist, "browser/index.js"), 'new URL("./worker.ts", import.meta.url)');
    writeFileSync(join(dist, "index.d.ts"), 'export * from "./other.ts";');
    expect(checkBuiltFiles(root, packages)).toEqual(["packages/a/dist/browser/index.js names ./worker.ts"]);
    rmSync(join(dist, "browser/index.js"));
    mkdirSync(join(root, "packages/a/src"));
    writeFileSync(join(root, "packages/a/src/index.ts"), "import(/* webpackIgnore: true */ name);");
    expect(checkBuiltFiles(root, packages)).toEqual([
      "packages/a/dist has no /* webpackIgnore: true */, which is in its sources",
    ]);
    writeFileSync(join(dist, "chunk.js"), "import(/* webpackIgnore: true */ name);");
    expect(checkBuiltFiles(root, packages)).toEqual([]);
  } finally {
    rmSync(root, { recursive: true });
  }
});
