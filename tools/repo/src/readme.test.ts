/**
 * The examples of the READMEs run as they stand.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { examplesOf, runExample } from "@nnhal/test-kit/run-example";
import { describe, expect, it } from "vitest";
import { readWorkspace } from "./workspace.ts";

const root = join(import.meta.dirname, "../../..");

const readmes = [
  "README.md",
  ...readdirSync(join(root, "packages")).map((name) => `packages/${name}/README.md`),
].filter((path) => existsSync(join(root, path)));

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
    for (const example of examplesOf(path)) expect((await runExample(example, root)).stderr).toBe("");
  });

  it("docs/extensions.md: its examples are one program, which prints what they say", { timeout: 60_000 }, async () => {
    const code = examplesOf("docs/extensions.md").join("\n");
    const { stdout, stderr } = await runExample(code, root);
    expect(stderr).toBe("");
    const said = [...code.matchAll(/^console\.log\(.*\); \/\/ (.*)$/gm)].map(([, text]) => text);
    expect(said).toHaveLength(2);
    expect(stdout).toBe(`${said.join("\n")}\n`);
  });

  it("docs/runtime.md: each of its examples prints what it says", { timeout: 60_000 }, async () => {
    for (const code of examplesOf("docs/runtime.md")) {
      const { stdout, stderr } = await runExample(code, root);
      expect(stderr).toBe("");
      const said = [...code.matchAll(/^ *(?:if \(.*\) )?console\.log\(.*\); \/\/ (.*)$/gm)].map(([, text]) => text);
      expect(stdout).toBe(said.map((line) => `${line}\n`).join(""));
    }
  });

  it("docs/adding-an-operation.md: its definition works as it is used", { timeout: 60_000 }, async () => {
    // The two examples as one file, outside the package: relative imports become imports of the package's entries.
    const code = examplesOf("docs/adding-an-operation.md")
      .join("\n")
      .replace(/^import .* from "\.\/scale-shift\.ts";$/m, "")
      .replace('"../index.ts"', '"@nnhal/operations"')
      .replace(/"\.\.\/[a-z-]+\.ts"/g, '"@nnhal/operations/authoring"');
    const { stdout, stderr } = await runExample(code, root);
    expect(stderr).toBe("");
    expect(stdout).toBe("1.3\ninput 0 (input) is TENSOR_INT32 where TENSOR_FLOAT32 is needed\n");
  });

  it("the first example of README.md names a digit", { timeout: 60_000 }, async () => {
    const { stdout } = await runExample(examplesOf("README.md")[0], root);
    expect(stdout).toMatch(/^most likely a [0-9]\n$/);
  });
});
