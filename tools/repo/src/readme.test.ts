/**
 * The examples of the READMEs run as they stand.
 */
import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { readWorkspace } from "./workspace.ts";

const root = join(import.meta.dirname, "../../..");
const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;

const readmes = [
  "README.md",
  ...readdirSync(join(root, "packages")).map((name) => `packages/${name}/README.md`),
].filter((path) => existsSync(join(root, path)));

/** The TypeScript examples of a document. */
function examplesOf(path: string): string[] {
  return [...readFileSync(join(root, path), "utf8").matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code]) => code);
}

/** Runs an example in the command line's folder, whose dependencies are all of the packages. */
async function run(code: string, name: string): Promise<{ stdout: string; stderr: string }> {
  const file = join(root, "apps/cli", `.example-${process.pid}-${name}.ts`);
  try {
    writeFileSync(file, code);
    const args = ["--import", tsx, "--conditions=@nnhal/source", file];
    return await promisify(execFile)(process.execPath, args, { cwd: root });
  } finally {
    rmSync(file, { force: true });
  }
}

describe.concurrent("READMEs", () => {
  it("exist for the whole and for every package", () => {
    expect(readmes).toHaveLength(readdirSync(join(root, "packages")).length + 1);
  });

  it("of packages that users import have an example in TypeScript, and those of commands one for a shell", () => {
    for (const { folder, manifest } of readWorkspace(root).filter(({ manifest }) => manifest.private !== true)) {
      const text = readFileSync(join(root, folder, "README.md"), "utf8");
      expect(text, folder).toMatch(manifest.bin === undefined ? /^```ts\n/m : /^```\n(\$ )?(npx|npm|nnhal) /m);
    }
  });

  it.each(readmes)("%s: its examples run", { timeout: 60_000 }, async (path) => {
    for (const [index, example] of examplesOf(path).entries()) {
      const { stderr } = await run(example, `${path.replaceAll("/", "-")}-${index}`);
      expect(stderr).toBe("");
    }
  });

  it("docs/adding-an-operation.md: its definition works as it is used", { timeout: 60_000 }, async () => {
    // The two examples as one file, outside the package: relative imports become imports of the package's entries.
    const code = examplesOf("docs/adding-an-operation.md")
      .join("\n")
      .replace(/^import .* from "\.\/scale-shift\.ts";$/m, "")
      .replace('"../index.ts"', '"@nnhal/operations"')
      .replace(/"\.\.\/[a-z-]+\.ts"/g, '"@nnhal/operations/authoring"');
    const { stdout, stderr } = await run(code, "adding-an-operation");
    expect(stderr).toBe("");
    expect(stdout).toBe("1.3\ninput 0 (input) is TENSOR_INT32 where TENSOR_FLOAT32 is needed\n");
  });

  it("the first example of README.md names a digit", { timeout: 60_000 }, async () => {
    const { stdout } = await run(examplesOf("README.md")[0], "digit");
    expect(stdout).toMatch(/^most likely a [0-9]\n$/);
  });
});
