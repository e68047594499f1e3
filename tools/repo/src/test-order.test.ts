import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { compareFiles, longFiles, projectOrder } from "./test-order.ts";
import { workspaceRoot } from "./workspace.ts";

const [long = "", lessLong = ""] = longFiles;
const inOrder = (...files: readonly (readonly [project: string, path: string])[]) =>
  files
    .map(([project, path]) => ({ project, path }))
    .sort(compareFiles)
    .map(({ project, path }) => `${project} ${path}`);

it("keeps the files of a project together, in the order of the projects", () => {
  expect(inOrder(["base", "a"], ["unknown", "b"], ["stress", "c"], ["base", "d"])).toEqual([
    "stress c",
    "base a",
    "base d",
    "unknown b",
  ]);
});

it("begins with long files, and leaves others in their order", () => {
  expect(inOrder(["base", "z"], ["base", lessLong], ["base", "a"], ["base", long])).toEqual([
    `base ${long}`,
    `base ${lessLong}`,
    "base z",
    "base a",
  ]);
});

it("lists files that exist, once, and projects that vitest.config.ts has", async () => {
  expect(longFiles.filter((path) => !existsSync(join(workspaceRoot, path)))).toEqual([]);
  expect(new Set(longFiles).size).toBe(longFiles.length);
  const { default: config } = await import("../../../vitest.config.ts");
  const names = config.test?.projects?.map((project) =>
    typeof project === "object" && "test" in project ? project.test?.name : undefined,
  );
  expect(names?.toSorted()).toEqual(projectOrder.toSorted());
});
