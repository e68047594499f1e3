/**
 * docs/adding-a-backend.md, followed to the letter: its files in a folder, compiled, tested with vitest, and run by the
 * command line.
 */
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ConformanceJson } from "../conformance-report.ts";
import { runCommandLine } from "../program.test-helper.ts";

const root = join(import.meta.dirname, "../../../..");
const guide = readFileSync(join(root, "docs/adding-a-backend.md"), "utf8");
// Beside this package, so that what it depends on is found from there.
const folder = join(root, `apps/cli/.example-${process.pid}-adding-a-backend`);
const run = promisify(execFile);
const modules = createRequire(join(root, "package.json"));

/** The files that the guide says to write, by name. */
const files = new Map(
  [...guide.matchAll(/^`([\w./-]+)`:\n\n```\w+\n([\s\S]*?)^```$/gm)].map(([, name, content]) => [name, content]),
);

/** The examples that are no files. */
const examples = [...guide.matchAll(/(?<!`:\n\n)^```ts\n([\s\S]*?)^```$/gm)].map(([, code]) => code);

/** In a checkout, packages are their sources. */
const condition = "@nnhal/source";

beforeAll(() => {
  for (const [name, content] of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("docs/adding-a-backend.md", () => {
  it("has all files of a package, whose tests take less than 20 lines", () => {
    expect([...files.keys()]).toEqual([
      "src/smallest.ts",
      "src/smallest.test.ts",
      "package.json",
      "tsconfig.json",
      "src/backend.ts",
      "src/conformance.test.ts",
    ]);
    expect(files.get("src/conformance.test.ts")?.split("\n").length).toBeLessThan(20);
    const manifest: { dependencies: object; devDependencies: object } = JSON.parse(files.get("package.json") ?? "");
    const imported = [...files.values()].flatMap((text) => [...text.matchAll(/ from "(@nnhal\/[a-z-]+|vitest)/g)]);
    const declared = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(declared).toEqual(expect.arrayContaining(imported.map(([, name]) => name)));
  });

  it("has a backend with one kernel of at most 60 lines, and its test", () => {
    const linesOf = (name: string) => files.get(name)?.trimEnd().split("\n") ?? [];
    expect(linesOf("src/smallest.ts").length).toBeLessThanOrEqual(60);
    const test = linesOf("src/smallest.test.ts").filter((line) => line !== "" && !line.startsWith("import "));
    expect(test.length).toBeLessThanOrEqual(15);
  });

  it("has a backend that compiles", { timeout: 120_000 }, async () => {
    const tsc = modules.resolve("typescript/bin/tsc");
    const args = [tsc, "-p", folder, "--noEmit", "--customConditions", condition];
    const { stdout } = await run(process.execPath, args).catch((error) => error);
    expect(stdout).toBe("");
  });

  it("has a backend that passes the kit with vitest", { timeout: 120_000 }, async () => {
    const conditions = JSON.stringify([condition]);
    const config = `export default { ssr: { resolve: { conditions: ${conditions} } } };`;
    writeFileSync(join(folder, "vitest.config.mjs"), config);
    const vitest = join(dirname(modules.resolve("vitest/package.json")), "vitest.mjs");
    const args = [vitest, "run", "src", "--root", folder, "--reporter", "json"];
    const { stdout } = await run(process.execPath, args, { cwd: folder }).catch((error) => error);
    const { numPassedTests, numFailedTests, testResults } = JSON.parse(stdout.slice(stdout.indexOf("{")));
    const messages = testResults.flatMap((file: { assertionResults: { failureMessages: string[] }[] }) =>
      file.assertionResults.flatMap(({ failureMessages }) => failureMessages),
    );
    expect(messages).toEqual([]);
    expect({ numPassedTests, numFailedTests }).toEqual({ numPassedTests: 36, numFailedTests: 0 });
  });

  it("has a backend that the command line runs", { timeout: 60_000 }, async () => {
    const args = ["--backend", "./src/backend.ts", "conformance", "--device", "loops", "--suite", "memory", "--json"];
    const { stdout, stderr, exitCode } = await runCommandLine(args, { cwd: folder });
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    const report: ConformanceJson = JSON.parse(stdout);
    expect(report.failed).toBe(0);
    expect(report.passed).toBeGreaterThan(report.total / 2);
  });

  it("has an example of its use that runs", { timeout: 60_000 }, async () => {
    expect(examples).toHaveLength(1);
    writeFileSync(join(folder, "use.ts"), examples[0]);
    const args = ["--import", modules.resolve("tsx"), `--conditions=${condition}`, join(folder, "use.ts")];
    const { stdout, stderr } = await run(process.execPath, args);
    expect({ stdout, stderr }).toEqual({ stdout: "nnhal-loops loops-1\n", stderr: "" });
  });
});
