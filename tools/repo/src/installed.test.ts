import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { projectFiles } from "./installed.ts";
import { workspaceRoot } from "./workspace.ts";

let project: string;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "nnhal-installed-"));
});
afterEach(() => rmSync(project, { recursive: true }));

const exports = {
  ".": {
    import: { types: "./index.d.ts", default: "./index.js" },
    require: { types: "./index.d.cts", default: "./index.cjs" },
  },
};

/** Puts a package of some files into the project, and returns the answers of tsc and node. */
function use(files: Readonly<Record<string, string>>) {
  const manifest = { name: "@nnhal/made-up", version: "1.0.0", type: "module", exports };
  const folder = join(project, "node_modules", manifest.name);
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries({ "package.json": JSON.stringify(manifest), ...files })) {
    writeFileSync(join(folder, name), text);
  }
  for (const [name, text] of Object.entries(projectFiles(workspaceRoot, [{ manifest }]))) {
    writeFileSync(join(project, name), text);
  }
  const run = (...args: string[]) => spawnSync(process.execPath, args, { cwd: project, encoding: "utf8" }).stdout;
  return {
    types: () => run(join(workspaceRoot, "node_modules", "typescript", "bin", "tsc"), "-p", ".").trim(),
    load: () => run("load.mjs").trim(),
  };
}

const whole = {
  "index.js": "export const a = 1;",
  "index.cjs": "exports.a = 1;",
  "index.d.ts": "export declare const a: number;",
  "index.d.cts": "export declare const a: number;",
};

test("a package that has everything is used without a problem", () => {
  const { types, load } = use(whole);
  expect({ types: types(), load: load() }).toEqual({ types: "", load: "" });
});

test("declarations that are missing for one module kind are found", () => {
  const { "index.d.cts": _, ...rest } = whole;
  expect(use(rest).types()).toMatch(/^cjs\.cts.*error TS7016/);
});

test("an entry that cannot be loaded in one way, or exports nothing, is found", () => {
  expect(use({ ...whole, "index.cjs": "" }).load()).toMatch(/^require of @nnhal\/made-up: Error: exports nothing/);
  expect(use({ ...whole, "index.js": "import 'gone';" }).load()).toMatch(/^import of @nnhal\/made-up: .*gone/);
});

test("enums of HAL versions are used as values and as types", () => {
  const manifest = { name: "@nnhal/types", exports: { ".": {} } };
  const files = projectFiles(workspaceRoot, [{ manifest }]);
  expect(JSON.parse(files["tsconfig.json"]).files).toContain("enums.mts");
  expect(files["enums.mts"]).toContain("V1_0.ErrorStatus.NONE");
});
