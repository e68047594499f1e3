import "./module-look-ups.test-helper.ts";

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { apiEntriesOf, checkApiReports } from "./api-reports.ts";
import type { WorkspacePackage } from "./workspace.ts";

const exports = {
  ".": { types: "./dist/index.d.ts", default: "./dist/index.js" },
  "./memory": { types: "./dist/memory.d.ts" },
  "./package.json": "./package.json",
};
const one: WorkspacePackage = { folder: "packages/one", manifest: { name: "@x/one", exports }, sources: [] };
let root: string;

/** Writes a file of the package. */
const write = (path: string, text: string) => writeFileSync(join(root, one.folder, path), text);
const report = (name: string) => join(root, one.folder, "api", name);

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "nnhal-api-test-"));
  mkdirSync(join(root, one.folder, "dist"), { recursive: true });
  write("package.json", JSON.stringify({ name: "@x/one", version: "1.0.0", type: "module" }));
  write("dist/index.d.ts", "/** One. */\nexport declare const one: 1;\n");
  write("dist/memory.d.ts", "export declare const memory: string;\n");
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

test("each entry with declarations has a report", () => {
  expect(apiEntriesOf(one.manifest)).toEqual([
    { name: "@x/one", declarations: "./dist/index.d.ts", report: "index.api.md" },
    { name: "@x/one/memory", declarations: "./dist/memory.d.ts", report: "memory.api.md" },
  ]);
});

test("that no package has an entry is a problem", () => {
  const none = { ...one, manifest: { name: "@x/one" } };
  expect(checkApiReports(root, [none], false)).toEqual({
    stale: [],
    problems: ["no package has an entry with declarations"],
  });
});

test("reports are written, and then up to date until an export or an entry changes", { timeout: 120_000 }, () => {
  const all = ["packages/one/api/index.api.md", "packages/one/api/memory.api.md"];
  expect(checkApiReports(root, [one], false)).toEqual({ stale: all, problems: [] });
  expect(existsSync(report("index.api.md"))).toBe(false);
  expect(checkApiReports(root, [one], true)).toEqual({ stale: all, problems: [] });
  expect(readFileSync(report("index.api.md"), "utf8")).toContain("export const one: 1;");

  write("dist/memory.d.ts", "export declare const memory: number;\n");
  write("api/gone.api.md", "");
  const stale = ["packages/one/api/memory.api.md", "packages/one/api/gone.api.md"];
  expect(checkApiReports(root, [one], true)).toEqual({ stale, problems: [] });
  expect(existsSync(report("gone.api.md"))).toBe(false);
  expect(checkApiReports(root, [one], false)).toEqual({ stale: [], problems: [] });
});
