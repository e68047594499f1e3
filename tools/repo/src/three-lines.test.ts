import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { packageOf } from "./fixtures.ts";
import { checkSize, checkStudioSize, findNeeded, projectFiles } from "./three-lines.ts";
import { workspaceRoot } from "./workspace.ts";

test("what a package needs is all that it depends on, and nothing else", () => {
  const link = (...names: string[]) => ({
    dependencies: Object.fromEntries(names.map((name) => [`@nnhal/${name}`, "workspace:^"])),
  });
  const [types, operations, other] = [
    packageOf("packages/types"),
    packageOf("packages/operations", link("types")),
    packageOf("packages/utils", link("types")),
  ];
  const utils = packageOf("packages/runtime", link("operations"));
  expect([...findNeeded("@nnhal/runtime", [types, operations, other, utils])]).toEqual([utils, operations, types]);
});

test("the three lines are those of the README", async () => {
  const { readFileSync } = await import("node:fs");
  const readme = readFileSync(`${workspaceRoot}/packages/nnhal/README.md`, "utf8");
  const lines = projectFiles(workspaceRoot)["lines.mjs"] ?? "";
  const plain = (text: string) =>
    text.replace(/"[\w-]+\.(tflite|png|jpg)"/g, '"file"').replace(/JSON\.stringify\((.*)\)\)/, "$1)");
  for (const line of lines.trim().split("\n")) expect(plain(readme)).toContain(plain(line));
});

test("an install that is too large is found, with the largest packages", () => {
  const modules = mkdtempSync(join(tmpdir(), "nnhal-size-"));
  try {
    const put = (path: string, size: number) => writeFileSync(join(modules, path), new Uint8Array(size));
    for (const folder of ["small", "@nnhal", "@nnhal/types"]) mkdirSync(join(modules, folder));
    put("small/index.js", 10_000);
    put("@nnhal/types/index.js", 20_000);
    expect(checkSize(modules, 30_000)).toEqual({
      ok: true,
      output: expect.stringMatching(/^nnhal takes 0\.03 MB .*\n {2}0\.02 MB @nnhal\/types\n {2}0\.01 MB small$/),
    });
    expect(checkStudioSize(modules, 30_000)).toEqual({ ok: true, output: "@nnhal/studio takes 0.03 MB, of 0.03 MB" });
    put("small/index.js", 10_001);
    expect(checkSize(modules, 30_000).ok).toBe(false);
    expect(checkStudioSize(modules, 30_000).ok).toBe(false);
  } finally {
    rmSync(modules, { recursive: true });
  }
});
