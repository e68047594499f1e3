/**
 * Runs the examples of a document in docs/ as they stand, in a process and a folder of their own.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { elementAt } from "@nnhal/operations";

const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
const root = join(import.meta.dirname, "../../..");

/** What an example of `docs/NAME.md` writes. Rejects where it fails. */
export async function runExample(name: string, index = 0): Promise<{ stdout: string; stderr: string }> {
  const text = readFileSync(join(root, "docs", `${name}.md`), "utf8");
  const [, example = ""] = elementAt([...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)], index);
  // The command line depends on all packages.
  const file = join(root, "apps/cli", `.example-${process.pid}-${name}-${index}.ts`);
  const cwd = mkdtempSync(join(tmpdir(), "nnhal-docs-"));
  try {
    writeFileSync(file, example);
    const args = ["--import", tsx, "--conditions=@nnhal/source", file];
    return await promisify(execFile)(process.execPath, args, { cwd, timeout: 45_000 });
  } finally {
    rmSync(file, { force: true });
    rmSync(cwd, { recursive: true });
  }
}
