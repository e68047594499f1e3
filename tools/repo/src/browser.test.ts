import { existsSync } from "node:fs";
import { join } from "node:path";
import { createContext, runInContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { bundleForBrowser } from "./browser-bundle.ts";
import { isomorphicPackages } from "./import-rules.ts";
import { workspaceRoot } from "./workspace.ts";

const here = join(workspaceRoot, "tools/repo/src");

/** Of the globals that are not JavaScript's own, those that every browser has and that the packages may use. */
const browserGlobals = { performance, setTimeout, TextDecoder, TextEncoder };

/** Bundles `source` and evaluates `expression` beside it, in a world without Node.js. */
async function inBrowser(source: string, expression: string, folder = here): Promise<unknown> {
  const { code } = await bundleForBrowser(source, folder);
  const context = createContext({ ...browserGlobals });
  runInContext(code, context);
  return runInContext(expression, context);
}

describe("the isomorphic packages", () => {
  const present = isomorphicPackages.filter((name) =>
    existsSync(join(workspaceRoot, "packages", name, "package.json")),
  );

  test.each(present)("@nnhal/%s loads without Node.js", async (name) => {
    const folder = join(workspaceRoot, "packages", name);
    const exported = await inBrowser(`export * from "@nnhal/${name}";`, "Object.keys(bundle).length", folder);
    expect(exported).toBeGreaterThan(0);
  });

  test("execute a model together", async () => {
    const call = "bundle.addAndClamp([1, 2, -3], [10, 20, -30]).then(JSON.stringify)";
    expect(await inBrowser('export * from "./browser-entry.ts";', call)).toBe("[11,22,0]");
  });
});

describe("the world of these tests", () => {
  test("has no module of Node.js", async () => {
    await expect(bundleForBrowser('export { readFileSync } from "node:fs";', here)).rejects.toThrow("node:fs");
  });

  test.each(["process", "Buffer", "setImmediate", "global"])("has no %s", async (name) => {
    await expect(inBrowser(`export const found = ${name}.name;`, "bundle")).rejects.toThrow(`${name} is not defined`);
  });
});
