import { describe, expect, test } from "vitest";
import { publishProblems, type Upload } from "./published.ts";

const manifest = {
  name: "@nnhal/x",
  description: "x",
  keywords: ["x"],
  license: "Apache-2.0",
  type: "module",
  sideEffects: false,
  engines: { node: ">=20.19" },
  publishConfig: { access: "public", provenance: true },
  exports: { ".": { "@nnhal/source": "./src/index.ts", types: "./dist/index.d.ts" } },
  bin: { x: "./dist/main.js" },
};
const paths = ["package.json", "README.md", "LICENSE", "dist/index.d.ts", "dist/main.js"];
const upload = (name: string, files: readonly string[]): Upload => ({
  name,
  size: 1,
  files: files.map((path) => ({ path })),
});
const problems = (change: object, files: readonly string[] = paths) =>
  publishProblems([{ manifest: { ...manifest, ...change } }], [upload("@nnhal/x", files)]);

test("a complete package has no problem", () => {
  expect(problems({})).toEqual([]);
  expect(problems({ sideEffects: ["./dist/worker.js"] })).toEqual([]);
});

describe("a problem is", () => {
  test.each(paths)("the absence of %s", (path) => {
    const rest = paths.filter((each) => each !== path);
    expect(problems({}, rest)).toEqual([`@nnhal/x: the file ${path} is missing`]);
  });

  test.each([
    ["license", undefined],
    ["type", "commonjs"],
    ["sideEffects", undefined],
    ["sideEffects", true],
    ["sideEffects", []],
    ["sideEffects", ["*"]],
    ["engines", { node: ">=18" }],
    ["publishConfig", { access: "public" }],
  ])("another %s than the packages share", (field, value) => {
    expect(problems({ [field]: value })).toEqual([expect.stringMatching(`^@nnhal/x: "${field}" is .*, and must be `)]);
  });

  test.each([undefined, [], "x"])("%j as keywords", (keywords) => {
    expect(problems({ keywords })).toEqual(['@nnhal/x: "keywords" is missing']);
  });

  test("a package without a description", () => {
    expect(problems({ description: undefined })).toEqual(['@nnhal/x: "description" is missing']);
  });

  test.each(["src/index.ts", "dist/index.js.map"])("%s among the files", (path) => {
    expect(problems({}, [...paths, path])).toEqual([`@nnhal/x: ${path} is for this repository, not for users`]);
  });

  test("a package that is published and must not be, or the other way round", () => {
    expect(publishProblems([], [upload("@nnhal/secret", paths)])).toEqual([
      "@nnhal/secret would be published, and must not be",
    ]);
    expect(publishProblems([{ manifest }], [])).toEqual(["@nnhal/x would not be published"]);
  });
});
