/**
 * Engines of the installation: from beside the program and never from the current folder, and said if they do not work.
 */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { type LoadOptions, load } from "./load.ts";
import { addingModel } from "./models.test-helper.ts";
import { knownEngines, programFile } from "./platform-node.ts";

const sources = new URL("../../../tools/launcher/src/sources.mjs", import.meta.url).href;
const platform = new URL("./platform-node.ts", import.meta.url).href;
const engine = "nnhal-engine-of-a-test";

let folder: string;
const inFolder = (...names: string[]) => join(folder, ...names);
/** Writes a package into the modules of a folder. */
function install(into: string, name: string, content: string): void {
  const at = inFolder(into, "node_modules", name);
  mkdirSync(at, { recursive: true });
  writeFileSync(join(at, "package.json"), JSON.stringify({ name, type: "module", exports: "./index.js" }));
  writeFileSync(join(at, "index.js"), content);
}
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "nnhal-engines-"));
  mkdirSync(inFolder("program", "bin"), { recursive: true });
  mkdirSync(inFolder("elsewhere"));
  install("models", engine, 'console.log("RAN"); export const from = "models";');
  install("program", engine, 'export const from = "program";');
  const script = `import { loadModule } from ${JSON.stringify(platform)};
    console.log((await loadModule(${JSON.stringify(engine)}))?.from);`;
  writeFileSync(inFolder("program", "main.mjs"), script);
  writeFileSync(inFolder("elsewhere", "main.mjs"), script);
  symlinkSync(inFolder("program", "main.mjs"), inFolder("elsewhere", "link.mjs"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Output of a program that runs in the folder of models. */
async function output(...args: string[]): Promise<{ readonly stdout: string; readonly stderr: string }> {
  return promisify(execFile)(process.execPath, ["--import", sources, ...args], { cwd: inFolder("models") });
}

describe("an engine by its name", () => {
  it.each([
    [["program", "main.mjs"], "program\n"],
    [["elsewhere", "link.mjs"], "program\n"],
    [["elsewhere", "main.mjs"], "undefined\n"],
  ])("comes from beside the program, and not from the current folder: %j", async (program, printed) => {
    expect((await output(inFolder(...program))).stdout).toBe(printed);
  });

  it("is not looked for without a program's file", () => {
    expect(programFile(undefined)).toBeUndefined();
    expect(programFile(inFolder("no-such.mjs"))).toBeUndefined();
  });
});

describe("an engine of the installation that does not work", () => {
  // The table is fixed for all but this test.
  const table = knownEngines as string[];
  const usual = [...table];
  let shown: unknown[];
  beforeEach(() => {
    shown = [];
    vi.spyOn(process, "emitWarning").mockImplementation((warning) => void shown.push(warning));
  });
  afterEach(() => {
    vi.restoreAllMocks();
    table.splice(0, table.length, ...usual);
  });
  /** The devices of a model with the default engines. */
  async function devicesOf(options: LoadOptions = {}) {
    await using model = await load(addingModel(), options);
    return model.devices;
  }

  it.each([
    ["exports no backend", "export const backend = 5;", "is not a backend, nor a module that exports one as backend"],
    ["throws", 'throw new Error("no library");', "failed: no library"],
    ["lacks a module", 'import "no-such-module-of-a-test";', "no-such-module-of-a-test"],
    [
      "cannot work",
      'export const backend = { name: "broken", deviceType: 2, open: async () => ({ unavailable: "no library", remedy: "npm rebuild broken" }) };',
      "no library; npm rebuild broken",
    ],
  ])("stops nothing, and is said once: one that %s", async (what, content, message) => {
    const file = inFolder(`${what.replaceAll(" ", "-")}.mjs`);
    writeFileSync(file, content);
    table.splice(0, table.length, file);
    expect([await devicesOf(), await devicesOf()]).toEqual([["nnhal-reference"], ["nnhal-reference"]]);
    expect(shown).toEqual([expect.stringContaining(`${file} is installed, but cannot be used: `)]);
    expect(shown[0]).toContain(message);
    const told: string[] = [];
    await devicesOf({ onWarning: (warning) => told.push(warning) });
    expect(told).toEqual(shown);
    expect(shown).toHaveLength(1);
    // A module that is asked for by name must be an engine.
    const asked = devicesOf({ engines: [file] });
    if (what === "cannot work") expect(await asked).toEqual(["nnhal-reference"]);
    else await expect(asked).rejects.toMatchObject({ name: "NetworkError" });
  });

  it("that is not installed is not worth a word", async () => {
    table.splice(0, table.length, "no-such-engine-of-a-test");
    expect(await devicesOf()).toEqual(["nnhal-reference"]);
    expect(shown).toEqual([]);
  });
});
