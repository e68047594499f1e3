#!/usr/bin/env node
/** The `nnhal-worker` command: connects a worker with this process. */
import { readFileSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { checkout } from "#checkout";
import { runWorker } from "./program.ts";

const manifest: unknown = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const version = manifest instanceof Object && "version" in manifest ? String(manifest.version) : "unknown";
/** What a thread runs: the computing part of `nnhal`. */
const thread = checkout ?? {
  file: new URL("batch-thread.js", pathToFileURL(createRequire(import.meta.url).resolve("@nnhal/cli/main"))),
  execArgv: [],
};

/** Writes at once, so that nothing is lost at the end. A log that no process reads does not end the worker. */
function write(descriptor: 1 | 2, text: string): void {
  try {
    writeSync(descriptor, text);
  } catch {
    // Nothing can be said of it: this is where it would be said.
  }
}

process.exitCode = await runWorker({
  args: process.argv.slice(2),
  env: process.env,
  version,
  stdout: (text) => write(1, text),
  stderr: (text) => write(2, text),
  startThread: (settings) => new Worker(thread.file, { workerData: settings, execArgv: thread.execArgv }),
  onSignal(listener) {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => listener(signal));
  },
  exit: (code) => process.exit(code),
});
process.exit();
