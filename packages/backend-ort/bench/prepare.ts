/**
 * Measures how long the parts of preparing a .tflite network take, each time in a new process, as an application prepares it: without
 * a cache, then from one. Prints the least milliseconds of each part.
 *
 * Run from the top of the repository:
 * `npx tsx --conditions=@nnhal/source packages/backend-ort/bench/prepare.ts MODEL [PROCESSES]`. tsx compiles what is loaded only when it is needed, such
 * as the cache: `nnhal bench` runs built code, which is faster.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDevice } from "@nnhal/driver-core/device";
import { Compilation, Execution, Model } from "@nnhal/runtime";
import { importTflite } from "@nnhal/tflite";
import type { Device } from "@nnhal/types";
import { ortBackend } from "../src/ort-backend.ts";

type Times = Record<string, number>;

/** Notes how long the calls of a device take. */
function timeCalls(device: Device, note: <T>(part: string, work: () => Promise<T>) => Promise<T>): Device {
  return {
    ...device,
    getSupportedOperations: (model) =>
      note("device: supported operations", async () => device.getSupportedOperations(model)),
    prepareModel: (...args) => note("device: prepare", () => device.prepareModel(...args)),
    ...(device.prepareModelFromCache && {
      prepareModelFromCache: (...args) =>
        note("device: prepare from cache", async () => {
          const result = await device.prepareModelFromCache?.(...args);
          if (result === undefined) throw new Error("the device has a cache");
          return result;
        }),
    }),
  };
}

async function prepareOnce(path: string, folder: string | undefined): Promise<Times> {
  const bytes = new Uint8Array(readFileSync(path));
  const opened = await openDevice({ backend: ortBackend({ threads: 1 }) });
  if ("unavailable" in opened) throw new Error(opened.unavailable);
  const times: Times = {};
  const note = async <T>(part: string, work: () => Promise<T>): Promise<T> => {
    const start = performance.now();
    try {
      return await work();
    } finally {
      times[part] = performance.now() - start;
    }
  };
  const device = timeCalls(opened, note);
  await note("all", async () => {
    const { model } = await note("import", async () => importTflite(bytes));
    const built = await note("build and validate the model", async () => Model.from(model));
    const compilation = new Compilation(built, [device]);
    if (folder !== undefined) compilation.setCaching(folder, new Uint8Array(32));
    await note("compile", () => compilation.finish());
    void new Execution(compilation);
  });
  return times;
}

const [path = "", count = "5", folder, ...rest] = process.argv.slice(2);
if (rest.length > 0) throw new Error("prepare.ts MODEL [PROCESSES]");
if (count === "child") {
  console.log(JSON.stringify(await prepareOnce(path, folder || undefined)));
  process.exit(0);
}
const cache = mkdtempSync(join(tmpdir(), "nnhal-prepare-"));
try {
  const inChild = (kept: string): Times =>
    JSON.parse(
      execFileSync(process.execPath, [...process.execArgv, import.meta.filename, path, "child", kept]).toString(),
    );
  for (const [title, kept] of [
    ["without a cache", ""],
    ["from a cache", cache],
  ] as const) {
    if (kept !== "") inChild(kept);
    const all = Array.from({ length: Number(count) }, () => inChild(kept));
    console.log(title);
    for (const part of Object.keys(all[0] ?? {})) {
      const least = Math.min(...all.map((times) => times[part] ?? Number.NaN));
      console.log(`  ${part.padEnd(30)} ${least.toFixed(1)} ms`);
    }
  }
} finally {
  rmSync(cache, { recursive: true, force: true });
}
