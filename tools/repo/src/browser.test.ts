import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createContext, runInContext } from "node:vm";
import { examplesOf, runExample } from "@nnhal/test-kit/run-example";
import { describe, expect, test } from "vitest";
import { bundleForBrowser, importChain } from "./browser-bundle.ts";
import { run } from "./browser-run.ts";
import { isomorphicPackages } from "./import-rules.ts";
import { entriesOf } from "./packed.ts";
import { readWorkspace, workspaceRoot } from "./workspace.ts";

const here = join(workspaceRoot, "tools/repo/src");

/** Of the globals that are not JavaScript's own, those that every browser has and that the packages may use. */
const browserGlobals = {
  clearTimeout,
  console,
  MessageChannel,
  performance,
  setTimeout,
  structuredClone,
  TextDecoder,
  TextEncoder,
};

/** The bytes that esbuild reports of a module, with its imports: modules of Node.js are not in the bundle. */
const imports = (...paths: readonly string[]) => ({
  bytes: 1,
  imports: paths.map((path) => ({ path, kind: "import-statement" as const, external: path.startsWith("node:") })),
});

/** Bundles `source` and evaluates `expression` with it, in a world without Node.js. */
async function inBrowser(source: string, expression: string, folder = here, given: object = {}): Promise<unknown> {
  const { code } = await bundleForBrowser(source, folder);
  const context = createContext({ ...browserGlobals, ...given });
  runInContext("globalThis.self = globalThis", context);
  runInContext(code, context);
  return runInContext(expression, context);
}

const packages = new Map(readWorkspace(workspaceRoot).map(({ folder, manifest }) => [folder, manifest]));

describe("the isomorphic packages", () => {
  const present = isomorphicPackages.filter((name) =>
    existsSync(join(workspaceRoot, "packages", name, "package.json")),
  );

  test.each(present)("@nnhal/%s loads without Node.js", async (name) => {
    const folder = join(workspaceRoot, "packages", name);
    const entries = entriesOf(packages.get(`packages/${name}`) ?? { name });
    const source = entries.map((entry, index) => `export * as entry${index} from "${entry}";`).join("\n");
    const call = "Object.values(bundle).every((entry) => Object.keys(entry).length > 0)";
    expect(entries).not.toEqual([]);
    expect(await inBrowser(source, call, folder)).toBe(true);
  });

  test("execute a model together", async () => {
    const call = "bundle.addAndClamp([1, 2, -3], [10, 20, -30]).then(JSON.stringify)";
    expect(await inBrowser('export * from "./browser-entry.ts";', call)).toBe("[11,22,0]");
  });
});

describe("a .tflite file on a device", () => {
  const demo = readFileSync(join(workspaceRoot, "apps/cli/demo/digits-uint8.tflite"));
  // A page that is not isolated from other origins.
  const given = { file: new Uint8Array(demo), SharedArrayBuffer: undefined };
  const call = (expression: string) => inBrowser('export * from "./browser-run.ts";', expression, here, given);

  test("is imported, compiled and run, with the result that Node.js has", async () => {
    const input = new Uint8Array(32 * 32 * 3).map((_, index) => (index * 7) % 256);
    const expected = await run(given.file, input, 10);
    expect(new Set(expected).size).toBeGreaterThan(1);
    const length = "new Uint8Array(32 * 32 * 3).map((_, index) => (index * 7) % 256)";
    expect(await call(`bundle.run(file, ${length}, 10).then(String)`)).toBe(String(expected));
  });

  test("is refused at once, with what helps, if its operations are not loaded", async () => {
    expect(await call("bundle.importAtOnce(file)")).toBe(
      "the definitions of AVERAGE_POOL_2D, CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED, MAX_POOL_2D, RESHAPE, SOFTMAX, GROUPED_CONV_2D are not loaded: in a browser, await loadOperations() or use whenLoaded(), both of @nnhal/operations",
    );
  });

  test("is compiled without files for prepared models", async () => {
    expect(await call("bundle.compileCached(file)")).toBe("compiled");
  });

  test("a memory in a file is refused with the reason", async () => {
    expect(await call("bundle.memoryInFile()")).toBe(
      "Memory.createFromFd: a memory in a file needs the module node:fs of Node.js, which does not exist here",
    );
  });
});

describe("the world of these tests", () => {
  test("has no module of Node.js: the imports that lead to one are named", async () => {
    await expect(bundleForBrowser('export { workspaceRoot } from "./workspace.ts";', here)).rejects.toThrow(
      /^node:fs is reached by \S*bundle-entry\.ts → \S*workspace\.ts → node:fs\n/,
    );
  });

  test("of several ways to a module, the shortest is named", () => {
    const inputs = {
      "bundle-entry.ts": imports("a.ts", "b.ts"),
      "a.ts": imports("c.ts"),
      "b.ts": imports("node:fs"),
      "c.ts": imports("b.ts", "node:fs"),
    };
    expect(importChain({ inputs }, "node:fs")).toEqual(["bundle-entry.ts", "b.ts", "node:fs"]);
  });

  test.each(["process", "Buffer", "setImmediate", "global"])("has no %s", async (name) => {
    await expect(inBrowser(`export const found = ${name}.name;`, "bundle")).rejects.toThrow(`${name} is not defined`);
  });
});

describe("docs/browser.md", () => {
  const text = readFileSync(join(workspaceRoot, "docs/browser.md"), "utf8");

  test("its page is that of the gate", () => {
    const [, page = ""] = /^```js\n([\s\S]*?)^```$/m.exec(text) ?? [];
    expect(page.length).toBeGreaterThan(100);
    expect(readFileSync(join(workspaceRoot, "tools/repo/page/main.js"), "utf8")).toContain(page);
  });

  test("its example runs", { timeout: 60_000 }, async () => {
    const [example = ""] = examplesOf("docs/browser.md");
    const inCheckout = example.replace("node_modules/@nnhal/cli/demo", "apps/cli/demo");
    expect(await runExample(inCheckout, workspaceRoot)).toEqual({ stdout: "10 operations\n", stderr: "" });
  });
});
