/** Runs the examples of documents unchanged, each in a separate process. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { fromSource } from "./from-source.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** The TypeScript examples of a document. `path` starts at the root of the checkout. */
export function examplesOf(path: string): string[] {
  const text = readFileSync(join(root, path), "utf8");
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = ""]) => code);
}

let count = 0;

/**
 * Runs an example and returns its output. Rejects if it fails or does not end. `cwd`: the folder in which it runs.
 * Default: a temporary one.
 */
export async function runExample(code: string, cwd?: string): Promise<{ stdout: string; stderr: string }> {
  // The command line depends on all packages.
  const file = join(root, "apps/cli", `.example-${process.pid}-${++count}.ts`);
  const folder = mkdtempSync(join(tmpdir(), "nnhal-example-"));
  try {
    // `nnhal` has the same exports, and depends on the command line itself.
    writeFileSync(file, code.replaceAll('from "nnhal"', 'from "@nnhal/network"'));
    const options = { cwd: cwd ?? folder, timeout: 45_000 };
    // The network asks Node.js itself where engines are, which knows of builds alone unless it is told of sources.
    const args = ["--conditions=@nnhal/source", ...fromSource, file];
    return await promisify(execFile)(process.execPath, args, options);
  } finally {
    rmSync(file, { force: true });
    rmSync(folder, { recursive: true });
  }
}
