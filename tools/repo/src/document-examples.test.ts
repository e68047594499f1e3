/** Every program of every document is run, or is a fragment with a reason, in the syntax of the oldest Node.js that is named. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { blocksIn, programsIn, syntaxProblem, type Use } from "./document-examples.ts";
import { readManifest, workspaceRoot as root } from "./workspace.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");
const here = "tools/repo/src/readme.test.ts";
const scaffolds = "tools/repo/src/scaffolded.ts";

/** READMEs of packages are run by `readme.test.ts`, all of them. */
const uses: Readonly<Record<string, Use>> = {
  "README.md": { runBy: here },
  "apps/studio/README.md": { fragments: { 0: "needs the built page: apps/studio/src/server.test.ts serves one" } },
  "docs/adding-a-backend.md": { runBy: "apps/cli/src/commands/conformance-guide.test.ts" },
  "docs/adding-an-operation.md": { runBy: here },
  "docs/browser.md": {
    runBy: "tools/repo/src/pasted.ts",
    fragments: { 0: "the begin of the page that the gate opens in a browser: tools/repo/page/main.js" },
  },
  "docs/bursts.md": { runBy: "packages/driver-core/src/burst/docs.test.ts" },
  "docs/caching.md": { runBy: "packages/driver-core/src/cache/docs.test.ts" },
  "docs/conformance.md": {
    fragments: { 0: "one line of a test, of a device that a vendor has", 1: "the import of what the text explains" },
  },
  "docs/daemon.md": { runBy: "apps/sample-driver/src/daemon.test.ts" },
  "docs/debugging.md": { runBy: here },
  "docs/diff.md": { runBy: here },
  "docs/extensions.md": { runBy: here },
  "docs/memory.md": { runBy: "packages/driver-core/src/memory/docs.test.ts" },
  "docs/network.md": { runBy: here },
  "docs/runtime.md": { runBy: here },
  "docs/trying-an-operation.md": { runBy: "apps/cli/src/commands/trying-guide.test.ts" },
  "docs/shared-memory.md": { runBy: "packages/service/src/shared-memory/docs.test.ts" },
  "docs/tflite.md": { runBy: "packages/tflite/src/docs.test.ts" },
  "docs/transport.md": { runBy: here },
  "packages/create-nnhal/templates/backend/README.md": { runBy: scaffolds },
  "packages/create-nnhal/templates/extension/README.md": { runBy: scaffolds },
};

function markdownIn(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return /^(node_modules|dist|api|\.)/.test(entry.name) ? [] : markdownIn(path);
    return entry.name.endsWith(".md") && !path.startsWith(".changeset/") ? [path] : [];
  });
}

const documents = ["apps", "docs", "examples", "packages", "tools"].flatMap(markdownIn);
documents.push(...readdirSync(root).filter((name) => name.endsWith(".md")));
const withPrograms = documents.filter((path) => programsIn(read(path)).length > 0);
const oldest = readManifest(root).engines?.node?.replace(">=", "") ?? "";

describe("the programs of documents", () => {
  it("are many, and of a version of Node.js that is named", () => {
    expect(withPrograms.length).toBeGreaterThan(30);
    expect(oldest).toMatch(/^\d+\.\d+$/);
  });

  it.each(withPrograms)("%s: are in the syntax of the oldest Node.js", async (path) => {
    const problems = await Promise.all(programsIn(read(path)).map((block) => syntaxProblem(block, oldest)));
    expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
  });

  it.each(withPrograms.filter((path) => !/^packages\/[^/]+\/README\.md$/.test(path)))("%s: are run", (path) => {
    const use = uses[path];
    if (use === undefined)
      throw new Error(`${path} has programs that nothing runs: run them, and say where in this table`);
    const fragments = Object.keys(use.fragments ?? {}).map(Number);
    const count = programsIn(read(path)).length;
    expect(fragments.every((place) => place < count)).toBe(true);
    if (use.runBy === undefined) return expect(fragments).toHaveLength(count);
    if (use.runBy !== scaffolds) expect(read(use.runBy)).toContain(path.replace(/^docs\//, ""));
    expect(existsSync(join(root, use.runBy))).toBe(true);
  });

  it("are fragments four times", () => {
    expect(Object.values(uses).flatMap(({ fragments = {} }) => Object.keys(fragments))).toHaveLength(4);
  });

  it("are those of this table", () => {
    expect(Object.keys(uses).filter((path) => !withPrograms.includes(path))).toEqual([]);
  });

  it("beside them, what is said to be JSON is JSON", () => {
    for (const path of documents)
      for (const { language, code } of blocksIn(read(path)))
        if (language === "json") expect(() => JSON.parse(code), `${path}: ${code}`).not.toThrow();
  });
});

it.each([
  ["await using model = await load();", "is not in the syntax of Node.js 20.19: await using model = await load();"],
  ["using model = load();", "is not in the syntax of Node.js 20.19: using model = load();"],
  ["const x: number = ;", "does not parse"],
])("finds %s", async (code, problem) => {
  expect(await syntaxProblem({ language: "ts", code }, "20.19")).toContain(problem);
});

it("accepts types and what Node.js 20 has", async () => {
  const code = 'const x: number = 1; console.log(x ?? (await import("node:fs")), [1].at(-1), class { static { x; } });';
  expect(await syntaxProblem({ language: "ts", code }, "20.19")).toBeUndefined();
});
