import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { publicPackages, workspaceRoot } from "./workspace.ts";

const packages = publicPackages(workspaceRoot);
const isReleased = packages.some(({ manifest }) => manifest.version !== "0.0.0");

/** The packages that a changeset names. */
function packagesOf(text: string): string[] {
  const [, front = ""] = /^---\n([\s\S]*?)^---$/m.exec(text) ?? [];
  return [...front.matchAll(/^"(.*)": (?:major|minor|patch)$/gm)].map(([, name = ""]) => name);
}

test.skipIf(isReleased)("until the first release, each published package has one changeset, of its own", () => {
  const folder = join(workspaceRoot, ".changeset");
  const files = readdirSync(folder).filter((name) => name.endsWith(".md") && name !== "README.md");
  const named = files.map((name) => packagesOf(readFileSync(join(folder, name), "utf8")));
  expect(named.toSorted()).toEqual(packages.map(({ manifest }) => [manifest.name]).toSorted());
});
