import { expect, test } from "vitest";
import { packageOf } from "./fixtures.ts";
import { neededBy, projectFiles } from "./three-lines.ts";
import { workspaceRoot } from "./workspace.ts";

test("what a package needs is all that it depends on, and nothing else", () => {
  const link = (...names: string[]) => ({
    dependencies: Object.fromEntries(names.map((name) => [`@nnhal/${name}`, "workspace:^"])),
  });
  const [types, operations, other] = [
    packageOf("packages/types"),
    packageOf("packages/operations", link("types")),
    packageOf("packages/utils", link("types")),
  ];
  const utils = packageOf("packages/runtime", link("operations"));
  expect([...neededBy("@nnhal/runtime", [types, operations, other, utils])]).toEqual([utils, operations, types]);
});

test("the three lines are those of the README", async () => {
  const { readFileSync } = await import("node:fs");
  const readme = readFileSync(`${workspaceRoot}/packages/nnhal/README.md`, "utf8");
  const lines = projectFiles(workspaceRoot)["lines.mjs"] ?? "";
  const plain = (text: string) =>
    text.replace(/"[\w-]+\.(tflite|png|jpg)"/g, '"file"').replace(/JSON\.stringify\((.*)\)\)/, "$1)");
  for (const line of lines.trim().split("\n")) expect(plain(readme)).toContain(plain(line));
});
