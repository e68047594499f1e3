/** Runs the examples of documents unchanged, in processes of their own. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { fromSource } from "./from-source.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** The TypeScript examples of a document. `path` starts at the root of the checkout. */
export function examplesOf(path: string): string[] {
  const text = readFileSync(join(root, path), "utf8");
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = ""]) => code);
}

/** The output of an example. */
export interface ExampleOutput {
  readonly stdout: string;
  readonly stderr: string;
}

let count = 0;

/**
 * Runs an example and returns its output. Rejects if it fails or does not end. `cwd`: the folder in which it runs.
 * Default: a temporary one.
 */
export async function runExample(code: string, cwd?: string): Promise<ExampleOutput> {
  const [output] = await runExamples([code], cwd);
  if (output === undefined) throw new Error("there is no output of the example");
  return output;
}

/**
 * Runs examples in one process, one after the other, and returns the output of each: loading what they import takes longer than they do. Each must
 * have printed everything when its last statement has run. Rejects if one fails, or if the process does not end. `cwd`: as for `runExample`.
 */
export async function runExamples(codes: readonly string[], cwd?: string): Promise<readonly ExampleOutput[]> {
  // The command line depends on all packages.
  const files = codes.map(() => join(root, "apps/cli", `.example-${process.pid}-${++count}.ts`));
  const folder = mkdtempSync(join(tmpdir(), "nnhal-example-"));
  const end = `end of an example ${process.pid}\n`;
  try {
    // `nnhal` has the same exports, and depends on the command line itself.
    files.forEach((file, index) => {
      writeFileSync(file, (codes[index] ?? "").replaceAll('from "nnhal"', 'from "@nnhal/network"'));
    });
    const runner = join(folder, "examples.mjs");
    writeFileSync(runner, runnerOf(files, end));
    const options = { cwd: cwd ?? folder, timeout: 45_000 + 5000 * codes.length };
    // The network asks Node.js itself where engines are, which knows of builds alone unless it is told of sources.
    const args = ["--conditions=@nnhal/source", ...fromSource, runner];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, options);
    const [outputs, errors] = [stdout.split(end), stderr.split(end)];
    return codes.map((_, index) => ({ stdout: outputs[index] ?? "", stderr: errors[index] ?? "" }));
  } finally {
    for (const file of files) rmSync(file, { force: true });
    rmSync(folder, { recursive: true });
  }
}

/** A program that runs files in turn, with a mark behind the output of each. */
function runnerOf(files: readonly string[], end: string): string {
  const mark = JSON.stringify(end);
  return files
    .map((file) => {
      const url = JSON.stringify(pathToFileURL(file).href);
      return `await import(${url}); process.stdout.write(${mark}); process.stderr.write(${mark});`;
    })
    .join("\n");
}
