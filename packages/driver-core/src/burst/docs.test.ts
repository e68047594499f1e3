import { execFile } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
const root = join(import.meta.dirname, "../../../..");
const guide = join(root, "docs/bursts.md");

describe("docs/bursts.md", () => {
  it("has an example that runs as it stands", { timeout: 60_000 }, async () => {
    const [, example] = /^```ts\n([\s\S]*?)^```$/m.exec(readFileSync(guide, "utf8")) ?? [];
    expect(example).toContain("createLocalBurst");
    const file = join(root, "apps/cli", `.example-${process.pid}-bursts.ts`);
    try {
      writeFileSync(file, example);
      const args = ["--import", tsx, "--conditions=@nnhal/source", file];
      const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { timeout: 45_000 });
      expect({ stdout, stderr }).toEqual({ stdout: "0 1 1\n0 2 2\n0 3 3\n", stderr: "" });
    } finally {
      rmSync(file, { force: true });
    }
  });
});
