/**
 * docs/adding-a-backend.md, followed to the letter: its files in a folder, compiled, tested with vitest, and run by the
 * command line.
 */

import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { elementAt } from "@nnhal/operations";
import { fromSource } from "@nnhal/test-kit/from-source";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ConformanceJson } from "../conformance-report.ts";
import { runCommandLine } from "../program.test-helper.ts";

const root = join(import.meta.dirname, "../../../..");
const guide = readFileSync(join(root, "docs/adding-a-backend.md"), "utf8");
// Beside this package, so that what it depends on is found from there.
const folder = join(root, `apps/cli/.example-${process.pid}-adding-a-backend`);
const toolsOfRoot = createRequire(join(root, "package.json"));
const vitest = join(dirname(toolsOfRoot.resolve("vitest/package.json")), "vitest.mjs");
// The compiler of the gate: the one that the guide names finds the same, and takes several times as long.
const toolsOfGate = createRequire(join(root, "tools/repo/package.json"));
const compiler = join(dirname(toolsOfGate.resolve("typescript-native/package.json")), "bin/tsc");
/** Milliseconds: far more than a test takes, on a machine that is busy with other tests too. */
const timeout = 300_000;

type VitestReport = Readonly<Record<"numPassedTests" | "numFailedTests" | "numPendingTests", number>>;

/** Runs Node.js in the folder until it ends. The output is that of stdout and stderr together. */
function node(...args: string[]): Promise<{ readonly exitCode: number | null; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text) => (output += text));
    child.once("error", reject);
    child.once("close", (exitCode, signal) => {
      resolve({ exitCode, output: signal === null ? output : `${output}\nended by ${signal}` });
    });
  });
}

/** The files that the guide says to write, by name. */
const files = new Map(
  [...guide.matchAll(/^`([\w./-]+)`:\n\n```\w+\n([\s\S]*?)^```$/gm)].map(
    ([, name = "", content = ""]) => [name, content] as const,
  ),
);

/** The examples that are not files of the package. */
const examples = [...guide.matchAll(/(?<!`:\n\n)^```ts\n([\s\S]*?)^```$/gm)].map(([, code = ""]) => code);

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
      "src/convolution.ts",
      "src/convolution.test.ts",
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

  it("has a convolution whose run takes about 20 lines", () => {
    const lines = files.get("src/convolution.ts")?.split("\n") ?? [];
    const begin = lines.indexOf("    return (read) => {");
    const length = lines.indexOf("    };") - begin + 1;
    expect(begin).toBeGreaterThan(0);
    expect(length).toBeLessThanOrEqual(25);
  });

  it("has a backend that compiles", { timeout }, async () => {
    // Settings that the sources of our packages need beyond the guide's own configuration.
    const forSources = ["--noEmit", "--customConditions", condition, "--types", "node"];
    const { exitCode, output } = await node(compiler, "-p", folder, ...forSources);
    expect({ exitCode, output }).toEqual({ exitCode: 0, output: "" });
  });

  it("has a backend that passes the kit with vitest", { timeout }, async () => {
    // As for a user, packages are not part of what vitest transforms.
    const config = `export default {
      ssr: { resolve: { conditions: ${JSON.stringify([condition])} } },
      test: { execArgv: ${JSON.stringify(fromSource)}, server: { deps: { external: [/packages\\/[^/]+\\/src/] } } },
    };`;
    writeFileSync(join(folder, "vitest.config.mjs"), config);
    const report = join(folder, "report.json");
    const reporters = ["--reporter", "default", "--reporter", "json", "--outputFile.json", report];
    // The faces of HAL versions do not depend on the backend: their suites run on the reference device.
    const chosen = ["--testNamePattern", "^(?!.*through HAL)"];
    const args = ["run", "src", "--root", folder, "--color", "false", ...chosen, ...reporters];
    const { exitCode, output } = await node(vitest, ...args);
    expect(exitCode, output).toBe(0);
    const { numPassedTests, numFailedTests, numPendingTests }: VitestReport = JSON.parse(readFileSync(report, "utf8"));
    // Eight suites on the device as it is, of five ways to drive it, the test of `lacks`, and those of the smallest backend and of the convolution.
    expect({ numPassedTests, numFailedTests, numPendingTests }).toEqual({
      numPassedTests: 8 + 1 + 1 + 1,
      numFailedTests: 0,
      numPendingTests: 8 * 4,
    });
  });

  it("has a backend that the command line runs", { timeout }, async () => {
    const args = ["--backend", "./src/backend.ts", "conformance", "--device", "loops", "--suite", "memory", "--json"];
    const { stdout, stderr, exitCode } = await runCommandLine(args, { cwd: folder });
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    const report: ConformanceJson = JSON.parse(stdout);
    expect(report.failed).toBe(0);
    expect(report.passed).toBeGreaterThan(report.total / 2);
  });

  it("has an example of its use that runs", { timeout }, async () => {
    expect(examples).toHaveLength(1);
    writeFileSync(join(folder, "use.ts"), elementAt(examples, 0));
    const { exitCode, output } = await node(...fromSource, join(folder, "use.ts"));
    expect({ exitCode, output }).toEqual({ exitCode: 0, output: "nnhal-loops loops-1\n" });
  });
});
