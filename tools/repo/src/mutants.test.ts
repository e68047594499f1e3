import { expect, test } from "vitest";
import { mutantOptions } from "./mutants.ts";

const excluded = ["!packages/x/src/**/*.test.ts", "!packages/x/src/**/*.test-helper.ts", "!packages/x/src/**/*.gen.ts"];

test("by default every source of the package is changed, but no test", () => {
  expect(mutantOptions("packages/x", []).mutate).toEqual(["packages/x/src/**/*.ts", ...excluded]);
});

test("patterns name files in the package's src", () => {
  expect(mutantOptions("packages/x", ["a.ts", "b/*.ts"]).mutate).toEqual([
    "packages/x/src/a.ts",
    "packages/x/src/b/*.ts",
    ...excluded,
  ]);
});

test("the package's own tests judge", () => {
  expect(mutantOptions("packages/x", []).vitest).toEqual({ configFile: "vitest.config.ts", dir: "packages/x" });
});
