import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
const root = join(import.meta.dirname, "../../../..");
const examples = [...readFileSync(join(root, "docs/memory.md"), "utf8").matchAll(/^```ts\n([\s\S]*?)^```$/gm)];

describe("docs/memory.md", () => {
  it.each([
    ["maps a file", 0, "[ 3, 4, 5, 6 ]\n"],
    ["waits for fences", 1, "ACTIVE\nSIGNALED\n"],
  ])("has an example that %s", { timeout: 60_000 }, async (_what, index, expected) => {
    const file = join(root, "apps/cli", `.example-${process.pid}-memory-${index}.ts`);
    const cwd = mkdtempSync(join(tmpdir(), "nnhal-docs-"));
    try {
      writeFileSync(file, examples[index][1]);
      const args = ["--import", tsx, "--conditions=@nnhal/source", file];
      const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd, timeout: 45_000 });
      expect({ stdout, stderr }).toEqual({ stdout: expected, stderr: "" });
    } finally {
      rmSync(file, { force: true });
      rmSync(cwd, { recursive: true });
    }
  });
});
