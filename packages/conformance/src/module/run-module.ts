/**
 * A suite on a device that is given as a module: it runs in a separate process, so that a driver that blocks its thread, ends
 * its process or crashes fails one case, and the others run on.
 */
import { spawn } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { HalVersion } from "@nnhal/types";
import { mostLostCases, runIsolated } from "../isolated.ts";
import type { CaseResult } from "../result.ts";
import { batchOf, type ModuleRun, type OwnSuiteName } from "./serve-module.ts";

/** Options of runModule. */
export interface ModuleOptions {
  /** The HAL version through which the device is driven. Default: it is driven as it is. */
  readonly version?: HalVersion | undefined;
  /** A text that the names of the cases contain. Default: all. */
  readonly filter?: string | undefined;
  /** Milliseconds after which a case has failed. Default 20 000. A process that is silent for half as long again is ended. */
  readonly timeLimit?: number | undefined;
  /** Arguments of Node.js for the process. Default: those of this process. */
  readonly execArgv?: readonly string[] | undefined;
}

/** Runs a suite on the device of a module: see `openModule`. Rejects if the device cannot be opened. */
export function runModule(module: URL, suite: OwnSuiteName, options: ModuleOptions = {}): AsyncGenerator<CaseResult> {
  const { version, filter, timeLimit = 20_000, execArgv = process.execArgv } = options;
  const run = { module: module.href, suite, timeLimit, ...(version && { version }), ...(filter && { filter }) };
  return runIsolated({
    start: (skip, singly) => {
      // JSON has no infinity.
      const own: ModuleRun = { ...run, skip, singly: Math.min(singly, Number.MAX_SAFE_INTEGER) };
      const code = `(await import("@nnhal/conformance")).serveModule(${JSON.stringify(own)});`;
      return spawn(process.execPath, [...execArgv, "--input-type=module", "--eval", code], {
        // The kit is found from where the module is.
        cwd: dirname(fileURLToPath(module)),
        stdio: ["ignore", "inherit", "inherit", "ipc"],
      });
    },
    batch: batchOf(suite),
    mostLost: mostLostCases,
    silence: timeLimit * 1.5,
  });
}
