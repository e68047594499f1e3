/** A small workspace with a copy of the loader, whose programs run in processes of their own. */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

const here = import.meta.dirname;
let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "nnhal-sources-")));
  const launcher = join(root, "tools/launcher");
  for (const name of ["sources.mjs", "source-hooks.mjs", "source-bundles.mjs"]) {
    cpSync(join(here, name), join(launcher, "src", name));
  }
  link(realpathSync(join(here, "../node_modules/esbuild")), join(launcher, "node_modules/esbuild"));
  put("packages/shapes/package.json", JSON.stringify({ name: "@nnhal/shapes", type: "module", exports }));
  put("packages/shapes/tsconfig.json", "{}");
  put("packages/shapes/src/index.ts", `export * from "./count.ts";\nexport const url: string = import.meta.url;\n`);
  put(
    "packages/shapes/src/deep/other.ts",
    `export * from "../count.ts";\nexport const lazy = () => import("../index.ts");\n`,
  );
  put("packages/shapes/src/count.ts", `let count = 0;\nexport const next = (): number => ++count;\n`);
  link(join(root, "packages/shapes"), join(root, "node_modules/@nnhal/shapes"));
});
afterEach(() => rmSync(root, { recursive: true }));

const exports = {
  ".": { "@nnhal/source": "./src/index.ts", default: "./dist/index.js" },
  "./other": { "@nnhal/source": "./src/deep/other.ts", default: "./dist/deep/other.js" },
  "./package.json": "./package.json",
};

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path, "junction");
}

function put(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** Writes a program at `path` and runs it. `since`: NNHAL_SOURCES_SINCE. */
function run(text: string, path = "program.ts", since?: number): { readonly stdout: string; readonly stderr: string } {
  put(path, text);
  const env = { ...process.env, NNHAL_SOURCES_SINCE: since === undefined ? undefined : String(since) };
  const args = ["--import", join(root, "tools/launcher/src/sources.mjs"), join(root, path)];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8", env });
  return { stdout, stderr };
}

const kept = () => readdirSync(join(root, "node_modules/.cache/nnhal-sources"));

test("a part that entries share finds the files beside its source", () => {
  put("packages/shapes/src/deep/shared.ts", `export const beside = new URL("./worker.ts", import.meta.url).href;\n`);
  put("packages/shapes/src/index.ts", `export * from "./count.ts";\nexport * from "./deep/shared.ts";\n`);
  put("packages/shapes/src/deep/other.ts", `export * from "./shared.ts";\n`);
  const text = `import { beside } from "@nnhal/shapes";
    import * as other from "@nnhal/shapes/other";
    console.log(beside.endsWith("/packages/shapes/src/deep/worker.ts"), beside.startsWith("file:"), other.beside === beside);`;
  expect(run(text)).toMatchObject({ stdout: "true true true\n", stderr: "" });
});

test("what entries of a package share exists once, and modules keep their URLs", () => {
  const program = `
    import * as shapes from "@nnhal/shapes";
    import { lazy, next } from "@nnhal/shapes/other";
    const last: number[] = [shapes.next(), next(), (await lazy()).next()];
    console.log(last.join(), (await lazy()) === shapes, shapes.url === import.meta.resolve("@nnhal/shapes"));
    console.log(shapes.url.slice(-28));`;
  expect(run(program)).toEqual({ stdout: "1,2,3 true true\npackages/shapes/src/index.ts\n", stderr: "" });
});

test("a change of a source is seen, and a bundle that is not whole is made again", () => {
  const program = `import { next } from "@nnhal/shapes"; console.log(next());`;
  expect(run(program).stdout).toBe("1\n");
  expect(kept()).toEqual(["packages-shapes.json"]);
  put("packages/shapes/src/count.ts", `export const next = (): number => 41;\n`);
  expect(run(program).stdout).toBe("41\n");
  put("node_modules/.cache/nnhal-sources/packages-shapes.json", `{"key":`);
  expect(run(program)).toEqual({ stdout: "41\n", stderr: "" });
});

test("a change after the time since which there is none is not looked for, and one before it is seen", () => {
  const program = `import { next } from "@nnhal/shapes"; console.log(next());`;
  const start = Date.now() - 1000;
  expect(run(program, "program.ts", start).stdout).toBe("1\n");
  put("packages/shapes/src/count.ts", `export const next = (): number => 41;\n`);
  expect(run(program, "program.ts", start).stdout).toBe("1\n");
  const later = Date.now() + 60_000;
  expect(run(program, "program.ts", later).stdout).toBe("41\n");
  // Compared with its sources, the bundle is right from now on.
  expect(run(program, "program.ts", start).stdout).toBe("41\n");
});

test("a bundle is kept", () => {
  const program = `import { next } from "@nnhal/shapes"; console.log(next());`;
  run(program);
  // Without the tool that makes bundles, only kept bundles can be loaded.
  rmSync(join(root, "tools/launcher/node_modules/esbuild"));
  expect(run(program, "plain.mjs")).toEqual({ stdout: "1\n", stderr: "" });
});

test("what is kept serves a checkout that has been moved", () => {
  const program = `import { next } from "@nnhal/shapes"; console.log(next());`;
  run(program);
  const old = root;
  root = `${old}-moved`;
  renameSync(old, root);
  link(join(root, "packages/shapes"), join(root, "node_modules/@nnhal/moved"));
  rmSync(join(root, "tools/launcher/node_modules/esbuild"));
  expect(run(program.replace("shapes", "moved"), "plain.mjs")).toEqual({ stdout: "1\n", stderr: "" });
});

test("a file of a package that is not an entry shares what it imports with the entries", () => {
  const program = `
    import { next } from "./count.ts";
    import { next as same } from "@nnhal/shapes";
    console.log(next(), same());`;
  expect(run(program, "packages/shapes/src/main.ts")).toEqual({ stdout: "1 2\n", stderr: "" });
});

test("a stack names sources and their lines", () => {
  put(
    "packages/shapes/src/count.ts",
    `interface Nothing {}\n\nexport function next(): never {\n  throw new Error("no");\n}\n`,
  );
  const program = `import { next } from "@nnhal/shapes";\ntype None = 0;\n\nnext();\n`;
  const { stderr } = run(program);
  expect(stderr).toContain(`(${join(root, "packages/shapes/src/count.ts")}:4:9)`);
  expect(stderr).toContain(`${join(root, "program.ts")}:4:1`);
  // In a run of all tests, the lines are those of the bundles.
  expect(run(program, "program.ts", Date.now()).stderr).toContain("Error: no");
});

test("a source that cannot be compiled is named with its line", () => {
  put("packages/shapes/src/count.ts", "\nexport const = 1;\n");
  const { stdout, stderr } = run(`import "@nnhal/shapes";`);
  expect(stdout).toBe("");
  expect(stderr).toMatch(/packages[\\/]shapes[\\/]src[\\/]count\.ts:2:13: ERROR: Expected identifier/);
});

test("a peer dependency of a package is that of the program, as in an install", () => {
  put("apps/cli/node_modules/peer/package.json", JSON.stringify({ name: "peer", main: "main.js" }));
  put("apps/cli/node_modules/peer/main.js", `exports.peer = "of the program";\n`);
  put("packages/shapes/src/index.ts", `export { peer } from "peer";\n`);
  const text = `import { peer } from "@nnhal/shapes";\nconsole.log(peer);\n`;
  expect(run(text, "apps/cli/main.ts")).toMatchObject({ stdout: "of the program\n", stderr: "" });
  expect(run(text).stderr).toContain("Cannot find package 'peer' imported from");
  put("packages/shapes/node_modules/peer/package.json", JSON.stringify({ name: "peer", main: "main.js" }));
  put("packages/shapes/node_modules/peer/main.js", `exports.peer = "its own";\n`);
  expect(run(text, "apps/cli/main.ts").stdout).toBe("its own\n");
});
