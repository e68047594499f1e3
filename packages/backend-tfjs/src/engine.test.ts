/**
 * Tests of opening tfjs-node, which needs a native library that npm does not install: packages of that name on disk, in
 * the forms found on machines, each beside a copy of this package.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { fromSource } from "@nnhal/test-kit/from-source";
import { afterAll, describe, expect, it } from "vitest";
import { type EngineName, tfjsBackend } from "./index.ts";

const here = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "nnhal-tfjs-"));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

// First in this file: an engine is started once in a process.
it("opens the same and different engines at the same time", async () => {
  const engines = ["wasm", "cpu", "wasm", "cpu"] as const;
  const sessions = await Promise.all(engines.map((engine) => tfjsBackend({ engine }).open()));
  for (const [index, engine] of engines.entries()) {
    expect(sessions[index]).toMatchObject({ version: expect.stringContaining(` ${engine} `) });
  }
});

/** A tfjs-node made of some source, and the engine that is asked for beside it; none by default. */
interface Case {
  readonly source: string;
  readonly engine?: EngineName;
}

/** Copies this package with the packages that it has, and puts a tfjs-node beside them. */
function install(name: string, source: string): string {
  const root = join(folder, name);
  cpSync(join(here, "src"), join(root, "src"), { recursive: true });
  cpSync(join(here, "package.json"), join(root, "package.json"));
  for (const scope of ["@nnhal", "@tensorflow"]) {
    const packages = join("node_modules", scope);
    mkdirSync(join(root, packages), { recursive: true });
    for (const name of readdirSync(join(here, packages))) {
      symlinkSync(realpathSync(join(here, packages, name)), join(root, packages, name), "junction");
    }
  }
  const tfjsNode = join(root, "node_modules/@tensorflow/tfjs-node");
  mkdirSync(tfjsNode);
  writeFileSync(join(tfjsNode, "package.json"), JSON.stringify({ name: "@tensorflow/tfjs-node", main: "index.js" }));
  writeFileSync(join(tfjsNode, "index.js"), source);
  return pathToFileURL(join(root, "src/index.ts")).href;
}

/**
 * Opens each copy in a new process, one after the other. Returns the outcomes, with the engine that tfjs then computes
 * with.
 */
function open(cases: Readonly<Record<string, Case>>): unknown {
  const copies = Object.entries(cases).map(([name, { source, engine }]) => [name, install(name, source), { engine }]);
  const script = `
    import * as tf from ${JSON.stringify(import.meta.resolve("@tensorflow/tfjs-core"))};
    const found = {};
    for (const [name, copy, options] of ${JSON.stringify(copies)}) {
      const { version, missing, unavailable, remedy } = await (await import(copy)).tfjsBackend(options).open();
      found[name] = { version, missing, unavailable, remedy, current: tf.getBackend() };
    }
    console.log(JSON.stringify(found));`;
  const args = [...fromSource, "--input-type=module", "-e", script];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: join(here, "../.."), encoding: "utf8" });
  expect(stderr).toBe("");
  return JSON.parse(stdout);
}

const wasm = { version: expect.stringContaining(" wasm "), current: "wasm" };

describe("a tfjs-node that does not work", () => {
  it("is replaced by another engine, and named", () => {
    const withoutLibrary = `throw new Error("The native addon can not be found at path: /nowhere. \\nPlease run another command");`;
    const withoutDependency = `require("@mapbox/node-pre-gyp");`;
    const failing = `
      const tf = require("@tensorflow/tfjs-core");
      tf.registerBackend("tensorflow", () => { throw new Error("no such instruction"); });`;
    const name = "@tensorflow/tfjs-node";
    const rebuild = `npm rebuild ${name}`;
    expect(
      open({
        withoutLibrary: { source: withoutLibrary },
        withoutDependency: { source: withoutDependency },
        notStarting: { source: failing },
        // No other engine is wanted: tfjs goes on with the one before.
        notStartingAlone: { source: failing, engine: "node" },
      }),
    ).toEqual({
      withoutLibrary: {
        ...wasm,
        missing: [
          {
            unavailable: `${name} does not work: The native addon can not be found at path: /nowhere.`,
            remedy: rebuild,
          },
        ],
      },
      withoutDependency: {
        ...wasm,
        missing: [{ unavailable: `${name}: Cannot find module '@mapbox/node-pre-gyp'`, remedy: `npm install ${name}` }],
      },
      notStarting: {
        ...wasm,
        missing: [{ unavailable: `${name} does not work: no such instruction`, remedy: rebuild }],
      },
      notStartingAlone: {
        unavailable: `no engine of tfjs is available. ${name} does not work: no such instruction`,
        remedy: rebuild,
        current: "wasm",
      },
    });
  });
});

it("prefers a tfjs-node that works", () => {
  // Not the native engine, but one that starts under its name.
  const source = `
    const tf = require("@tensorflow/tfjs-core");
    const { MathBackendCPU } = require("@tensorflow/tfjs-backend-cpu");
    tf.registerBackend("tensorflow", () => new MathBackendCPU());
    for (const kernel of tf.getKernelsForBackend("cpu")) tf.registerKernel({ ...kernel, backendName: "tensorflow" });
    exports.version = { "tfjs-node": "4.22.1" };`;
  expect(open({ working: { source } })).toEqual({
    working: { version: "nnhal-tfjs-1 node 4.22.1", missing: [], current: "tensorflow" },
  });
});

it("refuses all operations of a tfjs-node that starts and does not compute", () => {
  const source = `
    const tf = require("@tensorflow/tfjs-core");
    const { MathBackendCPU } = require("@tensorflow/tfjs-backend-cpu");
    tf.registerBackend("tensorflow", () => new MathBackendCPU());
    exports.version = { "tfjs-node": "4.22.1" };`;
  expect(open({ idle: { source } })).toMatchObject({
    idle: { version: expect.stringMatching(/^nnhal-tfjs-1 node 4\.22\.1 forms-[0-9a-f]{8}$/) },
  });
});

it("uses the next engine if tfjs-node is not installed, and names it", async ({ skip }) => {
  const session = await tfjsBackend().open();
  if ("unavailable" in session) throw new Error(session.unavailable);
  skip(session.version.includes(" node "), "tfjs-node is installed, and works");
  expect(session.version).toMatch(/ wasm /);
  expect(session.missing).toEqual([
    { unavailable: expect.stringMatching(/^@tensorflow\/tfjs-node /), remedy: expect.any(String) },
  ]);
});
