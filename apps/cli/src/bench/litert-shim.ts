/**
 * LiteRT.js is made for browsers. This lets it load in Node.js: the few names of a browser that it looks for, a loader of its scripts,
 * and workers that run those scripts.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { setFlagsFromString } from "node:v8";
import { compileFunction } from "node:vm";
import { Worker, type WorkerOptions } from "node:worker_threads";

const parameters = ["require", "module", "exports", "__filename", "__dirname"];

/** First work of a worker: it runs the script, which is CommonJS in a package of ES modules, so Node.js would not load it. */
const workerSource = (file: string) => `
  const file = ${JSON.stringify(file)};
  const module_ = { exports: {} };
  globalThis.self = globalThis;
  require("node:vm").compileFunction(require("node:fs").readFileSync(file, "utf8"), ${JSON.stringify(parameters)}, { filename: file })(
    require("node:module").createRequire(file), module_, module_.exports, file, require("node:path").dirname(file));`;

/** The names that are set, by this file and by the scripts. */
const names = ["self", "navigator", "Module", "importScripts", "ModuleFactory", "Worker"] as const;

/**
 * Sets names of a browser in this process while LiteRT.js loads: other code takes them for a sign that it runs in a browser. `threads`: of
 * its pool. Resolves or rejects as the work does.
 */
export async function withBrowserNames<Result>(threads: number, work: () => Promise<Result>): Promise<Result> {
  const before = names.map((name) => Object.getOwnPropertyDescriptor(globalThis, name));
  installBrowserNames(threads);
  // Threads are started later, with the same names: a process that computes with them keeps them.
  if (threads > 1) return work();
  try {
    return await work();
  } finally {
    for (const [place, name] of names.entries()) {
      const descriptor = before[place];
      if (descriptor === undefined) Reflect.deleteProperty(globalThis, name);
      else Object.defineProperty(globalThis, name, descriptor);
    }
  }
}

function installBrowserNames(threads: number): void {
  // Before version 21 Node.js has relaxed SIMD behind a flag, and later ones do not know it; the fast builds of LiteRT.js and all with threads need it.
  if (Number.parseInt(process.versions.node, 10) < 21) setFlagsFromString("--experimental-wasm-relaxed-simd");
  const define = (name: string, value: unknown) =>
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  define("self", globalThis);
  define("navigator", { hardwareConcurrency: threads, userAgent: "Node.js" });
  // The module prints what it does; the standard error belongs to the progress.
  define("Module", { print() {}, printErr() {} });
  define("importScripts", (file: string) => define("ModuleFactory", runScript(file)));
}

function runScript(file: string): unknown {
  const module = { exports: {} };
  const script = compileFunction(readFileSync(file, "utf8"), parameters, { filename: file });
  script(requireOf(file), module, module.exports, file, dirname(file));
  return module.exports;
}

/** `require` of a script that makes its threads run the same script. */
function requireOf(file: string): (name: string) => unknown {
  const require = createRequire(file);
  class ScriptWorker extends Worker {
    constructor(script: string, options: WorkerOptions) {
      super(workerSource(script), { ...options, eval: true });
      // Threads that wait for work must not keep the process alive.
      this.unref();
    }
  }
  return (name) =>
    name === "node:worker_threads" ? { ...require("node:worker_threads"), Worker: ScriptWorker } : require(name);
}
