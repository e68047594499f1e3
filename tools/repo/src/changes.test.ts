import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findChanges, touchedPackages } from "./changes.ts";
import { packageOf } from "./fixtures.ts";

const workspace = "workspace:^";
const packages = [
  packageOf("packages/base"),
  packageOf("packages/middle", { dependencies: { "@nnhal/base": workspace } }),
  packageOf("packages/top", { devDependencies: { "@nnhal/middle": workspace } }),
  packageOf("packages/base-other"),
];

describe("a change touches", () => {
  test.each([
    [[], []],
    [["packages/base/src/a.ts"], ["base", "middle", "top"]],
    [["packages/middle/package.json"], ["middle", "top"]],
    [["packages/top/README.md", "docs/cli.md", "README.md"], ["top"]],
    [["packages/base-other/src/a.ts"], ["base-other"]],
    [["tsconfig.base.json"], ["base", "middle", "top", "base-other"]],
    [["tools/repo/src/steps.ts"], ["base", "middle", "top", "base-other"]],
  ])("%j: %j", (files, names) => {
    expect(touchedPackages(packages, { files }).map(({ folder }) => folder)).toEqual(
      names.map((name) => `packages/${name}`),
    );
  });
});

describe("changes in a checkout", () => {
  let root = "";
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@example.com", ...args], { cwd: root, stdio: "pipe" });
  const put = (name: string, text: string) => writeFileSync(join(root, name), text);

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "nnhal-changes-"));
    git("init", "-q", "-b", "main");
    put("a", "1");
    put("b", "1");
    put(".gitignore", "ignored\n");
    git("add", ".");
    git("commit", "-qm", "first");
  });
  afterEach(() => rmSync(root, { recursive: true }));

  test("are those committed, not committed and not yet added", async () => {
    const [first = ""] = execFileSync("git", ["rev-parse", "HEAD"], { cwd: root, encoding: "utf8" }).split("\n");
    expect(await findChanges(root, undefined)).toEqual({ since: "HEAD", files: [] });
    put("a", "2");
    git("commit", "-qam", "second");
    put("b", "2");
    put("c", "1");
    put("ignored", "1");
    expect((await findChanges(root, undefined)).files).toEqual(["b", "c"]);
    expect(await findChanges(root, first)).toEqual({ since: first, files: ["a", "b", "c"] });
    git("update-ref", "refs/remotes/origin/main", first);
    expect(await findChanges(root, undefined)).toEqual({ since: first, files: ["a", "b", "c"] });
  });

  test("cannot be found since a commit that is not there", async () => {
    await expect(findChanges(root, "nowhere")).rejects.toThrow("git diff --name-only nowhere --: ");
  });
});
