#!/usr/bin/env node
/** The `nnhal-sample-driver` command: connects the daemon with this process. */
import { readFileSync, writeSync } from "node:fs";
import { runDaemon } from "./program.ts";

const manifest: unknown = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const version = manifest instanceof Object && "version" in manifest ? String(manifest.version) : "unknown";

/** Writes at once, so that nothing is lost at the end. A log that no process reads does not end the daemon. */
function write(descriptor: 1 | 2, text: string): void {
  try {
    writeSync(descriptor, text);
  } catch {
    // Nothing can be said of it: this is where it would be said.
  }
}

process.exitCode = await runDaemon({
  args: process.argv.slice(2),
  env: process.env,
  cwd: process.cwd(),
  version,
  stdout: (text) => write(1, text),
  stderr: (text) => write(2, text),
  onSignal(listener) {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => listener(signal));
    // A program that has started the daemon with a channel takes it along, however it ends.
    if (process.connected) process.once("disconnect", () => listener("SIGTERM"));
  },
  exit: (code) => process.exit(code),
});
process.exit();
