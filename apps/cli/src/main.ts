#!/usr/bin/env node
/**
 * The `nnhal` command: gives the command line what it needs of this process.
 */
import { fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { knownEngines } from "./devices.ts";
import { runProgram } from "./program.ts";

/** In a checkout, users type the root script instead of the command. */
const isCheckout = import.meta.url.endsWith(".ts") && process.env.npm_lifecycle_event !== undefined;

// A reader that has seen enough, such as `head`, ends the work without a complaint.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit();
});

await runProgram(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  engines: knownEngines,
  version: readVersion(),
  cwd: process.cwd(),
  now: () => performance.now(),
  demoFolder: fileURLToPath(new URL("../demo/", import.meta.url)),
  commandLine: isCheckout ? "npm run -s nnhal --" : "nnhal",
  hasColours: process.stdout.isTTY === true && process.stdout.getColorDepth() >= 24,
  // What engines print while they load does not belong into results: it goes to stderr.
  startSelf: (args) => fork(fileURLToPath(import.meta.url), args, { stdio: ["ignore", 2, 2, "ipc"] }),
  setExitCode(code) {
    process.exitCode = code;
  },
});

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  return manifest instanceof Object && "version" in manifest ? String(manifest.version) : "unknown";
}
