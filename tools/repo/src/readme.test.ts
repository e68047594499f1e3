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

/** The folder of the example extension, which no package depends on. Its own dependencies are all that its examples need. */
const extensionFolder = "packages/extension-fibonacci";

/** Runs an example in a folder. Default: the command line's, whose dependencies are all other packages. */
async function run(code: string, name: string, folder = "apps/cli"): Promise<{ stdout: string; stderr: string }> {
  const file = join(root, folder, `.example-${process.pid}-${name}.ts`);
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

  it.each(readmes)("%s: its examples run", { timeout: 60_000 }, async (path) => {
    for (const [index, example] of examplesOf(path).entries()) {
      const folder = path.startsWith(extensionFolder) ? extensionFolder : undefined;
      const { stderr } = await run(example, `${path.replaceAll("/", "-")}-${index}`, folder);
      expect(stderr).toBe("");
    }
  });

  it("docs/extensions.md: its examples are one program, which prints what they say", { timeout: 60_000 }, async () => {
    const code = examplesOf("docs/extensions.md").join("\n");
    const { stdout, stderr } = await run(code, "extensions", extensionFolder);
    expect(stderr).toBe("");
    const said = [...code.matchAll(/^console\.log\(.*\); \/\/ (.*)$/gm)].map(([, text]) => text);
    expect(said).toHaveLength(2);
    expect(stdout).toBe(`${said.join("\n")}\n`);
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
