import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { problemOfAnswer, projectFiles } from "./installed.ts";
import { workspaceRoot } from "./workspace.ts";

let project: string;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "nnhal-installed-"));
});
afterEach(() => rmSync(project, { recursive: true }));

const exports = {
  ".": { types: "./index.d.ts", default: "./index.js" },
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
  "index.d.ts": "export declare const a: number;",
};

test("a package that has everything is used without a problem", () => {
  const { types, load } = use(whole);
  expect({ types: types(), load: load() }).toEqual({ types: "", load: "" });
});

test("declarations that are missing are found for both module kinds", () => {
  const { "index.d.ts": _, ...rest } = whole;
  const found = use(rest).types();
  for (const file of ["esm.mts", "cjs.cts"]) expect(found).toMatch(new RegExp(`^${file}.*error TS7016`, "m"));
});

test("an entry that cannot be loaded in one way, or exports nothing, is found", () => {
  const waiting = use({ ...whole, "index.js": "await 0; export const a = 1;" }).load();
  expect(waiting).toMatch(/^require of @nnhal\/made-up: Error.*top-level await/);
  expect(waiting).not.toContain("import of");
  expect(use({ ...whole, "index.js": "" }).load()).toMatch(/^import of @nnhal\/made-up: Error: exports nothing/);
  expect(use({ ...whole, "index.js": "import 'gone';" }).load()).toMatch(/^import of @nnhal\/made-up: .*gone/);
});

test("enums of HAL versions are used as values and as types", () => {
  const manifest = { name: "@nnhal/types", exports: { ".": {} } };
  const files = projectFiles(workspaceRoot, [{ manifest }]);
  expect(JSON.parse(files["tsconfig.json"] ?? "").files).toContain("enums.mts");
  expect(files["enums.mts"]).toContain("V1_0.ErrorStatus.NONE");
});

test.each([
  [["-v"], true, "1.2.3\n", undefined],
  [["-v"], true, "unknown\n", "does not print /^\\d+\\.\\d+\\.\\d+\\S*$/m"],
  [["-v"], false, "1.2.3\n", "fails"],
  [["--help"], true, "Usage: a\n  -v, --version\n", undefined],
  [["--help"], false, "CommanderError: (outputHelp)\n    at Command._exit (command.js:1)\n", "answers with a stack"],
  [["--no-such-option"], false, "error: unknown option '--no-such-option'\n", undefined],
  [["--no-such-option"], false, "error: required option '--queue <url>' not specified\n", undefined],
  [["--no-such-option"], true, "error: unknown option '--no-such-option'\n", "does not refuse it"],
  [["--no-such-option"], false, "", "does not refuse it"],
])("the answer of a command to %s is judged", (args, ok, output, problem) => {
  expect(problemOfAnswer(args, ok, output)).toBe(problem);
});
