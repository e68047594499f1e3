#!/usr/bin/env node
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
/**
 * The `nnhal` command: connects the command line with this process, and ends the process in order whatever becomes of
 * its streams and children.
 */
import { exitCodes, versionOf } from "@nnhal/program";
import { checkout } from "#checkout";
import type { Program } from "./checkout.ts";
import { createChildStarter, createInterrupts } from "./children.ts";
import { stackOf } from "./failure.ts";
import { reasonOf } from "./files.ts";
import { runProgram } from "./program.ts";

/** Ends the process with one line on stderr. */
function end(line: string): never {
  process.stderr.write(`nnhal: ${line}\n`);
  process.exit(exitCodes.failed);
}

// A reader that has seen enough, such as `head`, ends the work without a complaint.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit();
  end(`cannot write to the standard output: ${reasonOf(error)}`);
});
// Progress and problems that no process reads do not matter to the results.
process.stderr.on("error", () => {});
// Other code, such as an engine, can throw outside of any command's calls.
process.on("uncaughtException", async (error) => {
  const debug = process.argv.includes("--debug");
  if (debug) process.stderr.write(`${stackOf(error)}\n`);
  let line = `unexpected problem: ${reasonOf(error)}`;
  try {
    const { unexpectedLine } = await import("./text.ts");
    line = unexpectedLine(error, debug);
  } catch {
    // The line as it is will do: an error of this listener would call it again, for ever.
  }
  end(line);
});
// Nothing is left that could wake this process up, and the command is not done.
const onStuck = () =>
  end("unexpected problem: the command waits for something that never happens, such as a backend that never loads");
process.once("beforeExit", onStuck);

const interrupts = createInterrupts();
const driver = driverProgram();
const execArgv = [...(checkout?.execArgv ?? [])];
await runProgram(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: readStandardInput,
  engines: async () => (await import("./engines.ts")).knownEngines,
  version: versionOf(new URL("../package.json", import.meta.url)),
  cwd: process.cwd(),
  stateDirectory: async () => (await import("@nnhal/driver-core/outcomes")).defaultStateDirectory(),
  now: () => performance.now(),
  demoFolder: fileURLToPath(new URL("../demo/", import.meta.url)),
  // In a checkout, users type the root script instead of the command.
  commandLine: checkout && process.env.npm_lifecycle_event !== undefined ? "npm run -s nnhal --" : "nnhal",
  installs: (module) => (checkout ? "npm run setup" : `npm install ${module}`),
  hasColours: process.stdout.isTTY === true && process.stdout.getColorDepth() >= 24,
  startSelf: createChildStarter(process.argv[1] ?? fileURLToPath(import.meta.url), interrupts),
  ...(driver && {
    startDriver: createChildStarter(driver.file, interrupts, { execArgv: driver.execArgv, isRead: true }),
  }),
  startThread: (settings) =>
    new Worker(new URL("./batch-thread.ts", import.meta.url), { workerData: settings, execArgv }),
  onInterrupt: interrupts.onInterrupt,
  setExitCode(code) {
    process.exitCode = code;
  },
});
process.off("beforeExit", onStuck);

async function readStandardInput(): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return new Uint8Array(Buffer.concat(chunks));
}

/** The program of the daemon: that of the checkout, else the package, if it is installed. */
function driverProgram(): Program | undefined {
  if (checkout?.driver !== undefined) return checkout.driver;
  try {
    return { file: createRequire(import.meta.url).resolve("@nnhal/sample-driver/main"), execArgv: [] };
  } catch {
    return undefined;
  }
}
