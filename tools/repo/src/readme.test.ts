/**
 * The README's example runs as it stands.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../../..");

describe("README.md", () => {
  it("has an example in TypeScript that runs and prints a digit", () => {
    const readme = readFileSync(join(root, "README.md"), "utf8");
    const [, example] = /^```ts\n([\s\S]*?)^```$/m.exec(readme) ?? [];
    expect(example).toBeDefined();
    // Inside the command line's folder, whose dependencies are all of the packages.
    const file = join(root, "apps/cli", `.readme-example-${process.pid}.ts`);
    const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
    try {
      writeFileSync(file, example);
      const { stdout, stderr, status } = spawnSync(
        process.execPath,
        ["--import", tsx, "--conditions=@nnhal/source", file],
        { cwd: root, encoding: "utf8" },
      );
      expect(stderr).toBe("");
      expect(stdout).toMatch(/^most likely a [0-9]\n$/);
      expect(status).toBe(0);
    } finally {
      rmSync(file, { force: true });
    }
  });
});
