/** A small workspace, whose program is built and run in separate processes. */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";

const here = import.meta.dirname;
let root: string;
let second: number;

beforeEach(() => {
  second = 0;
  root = realpathSync(mkdtempSync(join(tmpdir(), "nnhal-program-")));
  for (const name of ["program.mjs", "import-from.mjs", "sources.mjs", "source-hooks.mjs", "source-bundles.mjs"]) {
    cpSync(join(here, name), join(root, "tools/launcher/src", name));
  }
  link(realpathSync(join(here, "../node_modules/esbuild")), join(root, "tools/launcher/node_modules/esbuild"));
  put("packages/shapes/package.json", JSON.stringify({ name: "@nnhal/shapes", type: "module", exports }));
  put("packages/shapes/src/index.ts", `export const text: string = "first";\n`);
  put("packages/shapes/node_modules/far/package.json", JSON.stringify({ name: "far", main: "main.js" }));
  put("packages/shapes/node_modules/far/main.js", `exports.far = "far";\n`);
  put("apps/cli/package.json", JSON.stringify({ name: "@nnhal/cli", type: "module" }));
  link(join(root, "packages/shapes"), join(root, "apps/cli/node_modules/@nnhal/shapes"));
});
afterEach(() => rmSync(root, { recursive: true }));

const exports = { ".": { "@nnhal/source": "./src/index.ts", default: "./dist/index.js" } };

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path, "junction");
}

/** Writes a file, later than all before it. */
function put(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
  utimesSync(join(root, path), 1e9 + second, 1e9 + second++);
}

/** Builds the program if that is needed, and runs it. */
function run(): string {
  const launcher = pathToFileURL(join(root, "tools/launcher/src/program.mjs")).href;
  const code = `
    import { pathToFileURL } from "node:url";
    const { builtProgram } = await import(${JSON.stringify(launcher)});
    await import(pathToFileURL(await builtProgram(${JSON.stringify(root)}, "apps/cli/src/main.ts")).href);`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" });
  return stdout + stderr;
}

const cache = () => join(root, "node_modules/.cache/nnhal-program");

test("a program runs without the tool that built it, and again after each change of a source", () => {
  put("apps/cli/src/main.ts", `import { text } from "@nnhal/shapes";\nconsole.log(text satisfies string);\n`);
  expect(run()).toBe("first\n");
  const tool = join(root, "tools/launcher/node_modules/esbuild");
  const target = realpathSync(tool);
  rmSync(tool);
  expect(run()).toBe("first\n");
  link(target, tool);
  put("packages/shapes/src/index.ts", `export const text = "second";\n`);
  expect(run()).toBe("second\n");
  put("packages/shapes/src/other.ts", `export const text = "third";\n`);
  put("packages/shapes/package.json", JSON.stringify({ name: "@nnhal/shapes", exports: "./src/other.ts" }));
  expect(run()).toBe("third\n");
});

test("a build that is not whole is made again, and an older one stays for programs that still run", () => {
  put("apps/cli/src/main.ts", `console.log(1);\n`);
  expect(run()).toBe("1\n");
  const [first = ""] = readdirSync(cache()).filter((name) => name.endsWith(".mjs"));
  put("node_modules/.cache/nnhal-program/main.json", "{");
  put("apps/cli/src/main.ts", `console.log(2);\n`);
  // It is new enough for a program to use it still.
  utimesSync(join(cache(), first), new Date(), new Date());
  expect(run()).toBe("2\n");
  expect(existsSync(join(cache(), first))).toBe(true);
  utimesSync(join(cache(), first), 1e9, 1e9);
  put("apps/cli/src/main.ts", `console.log(3);\n`);
  expect(run()).toBe("3\n");
  expect(existsSync(join(cache(), first))).toBe(false);
});

test("what a package imports by a name of its own is part of the program", () => {
  const imports = { "#own": "./src/own.ts" };
  put("packages/shapes/package.json", JSON.stringify({ name: "@nnhal/shapes", type: "module", exports, imports }));
  put("packages/shapes/src/own.ts", `export const text: string = "own";\n`);
  put("packages/shapes/src/index.ts", `export const text = async () => (await import("#own")).text;\n`);
  put("apps/cli/src/main.ts", `import { text } from "@nnhal/shapes";\nconsole.log(await text());\n`);
  expect(run()).toBe("own\n");
});

test("modules keep their URLs, and find packages that only they can see, also those named by a variable", () => {
  put(
    "packages/shapes/src/index.ts",
    `import { far } from "far";
     export const url = import.meta.url;
     const name: string = "far";
     export const found = async () => [far, (await import(name)).far, await import("node:fs") !== undefined];\n`,
  );
  put(
    "apps/cli/src/main.ts",
    `import { found, url } from "@nnhal/shapes";
     const missing = await import("@nnhal/missing").catch((error) => error.code);
     console.log(url, await found(), missing);\n`,
  );
  const url = pathToFileURL(join(root, "packages/shapes/src/index.ts")).href;
  expect(run()).toBe(`${url} [ 'far', 'far', true ] ERR_MODULE_NOT_FOUND\n`);
});

test("a package of the workspace that is named by a variable is loaded from its sources if it is not built, else as it is built", () => {
  put("apps/cli/src/main.ts", `const name: string = "@nnhal/shapes";\nconsole.log((await import(name)).text);\n`);
  put("packages/shapes/tsconfig.json", "{}");
  expect(run()).toBe("first\n");
  put("packages/shapes/dist/index.js", `export const text = "built";\n`);
  expect(run()).toBe("built\n");
  rmSync(join(root, "packages/shapes/dist"), { recursive: true });
  put(
    "packages/shapes/package.json",
    JSON.stringify({ name: "@nnhal/shapes", type: "module", exports: "./dist/index.js" }),
  );
  expect(run()).toContain("Cannot find module");
});
