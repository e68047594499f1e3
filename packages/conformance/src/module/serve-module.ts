/** The program of the separate process for a device that is given as a module. */
import type { Backend } from "@nnhal/backend";
import { openDevice } from "@nnhal/driver-core/device";
import type { Device, HalVersion } from "@nnhal/types";
import { runArithmetic } from "../arithmetic/run.ts";
import { runGraphs } from "../graphs/run.ts";
import { type OnStart, serveResults } from "../isolated.ts";
import type { CaseResult } from "../result.ts";
import { type DeviceSuiteName, isDeviceSuiteName, runDeviceSuites } from "../suites/run.ts";
import { deviceThrough } from "../versions.ts";

/** A suite that a device can be tested with without vectors. */
export type OwnSuiteName = DeviceSuiteName | "arithmetic" | "graphs";

/** The suite and device that the process runs: plain data, since it passes from one process to another. */
export interface ModuleRun {
  /** The URL of the module: see `openModule`. */
  readonly module: string;
  readonly suite: OwnSuiteName;
  /** The HAL version through which the device is driven. Absent: it is driven as it is. */
  readonly version?: HalVersion;
  /** Of the names of cases that run. Absent: all. */
  readonly filter?: string;
  /** Milliseconds after which a case has failed. */
  readonly timeLimit: number;
  readonly skip: number;
  readonly singly: number;
}

/** The most results in one message: examples of the suite arithmetic are many and short. */
export function batchOf(suite: OwnSuiteName): number {
  return suite === "arithmetic" ? 64 : suite === "graphs" ? 8 : 1;
}

/**
 * Opens the device of a module: of its export `backend`, as for `nnhal --backend`, or what its export `openDevice` returns. Rejects if it
 * has neither, or if the device is not available.
 */
export async function openModule(url: string): Promise<Device> {
  const module: { readonly backend?: Backend; readonly openDevice?: () => Device | Promise<Device> } = await import(
    url
  );
  const { backend, openDevice: open } = module;
  if (open === undefined && backend === undefined) {
    throw new Error(`the module ${url} exports neither \`backend\` nor \`openDevice\``);
  }
  const device = backend === undefined ? await open?.() : await openDevice({ backend });
  if (device === undefined) throw new Error(`openDevice of the module ${url} returned no device`);
  if ("unavailable" in device) throw new Error(`the device is not available: ${device.unavailable}`);
  return device;
}

/** Runs a suite on the device of a module, and sends the results to the process that has started this one: `runModule`. */
export async function serveModule(run: ModuleRun): Promise<void> {
  await serveResults((onStart) => results(run, onStart), { singly: run.singly, batch: batchOf(run.suite) });
}

async function* results(
  { module, suite, version, filter = "", timeLimit, skip }: ModuleRun,
  onStart: OnStart,
): AsyncGenerator<CaseResult> {
  const device = await openModule(module);
  const options = { timeLimit, skip, onStart };
  if (isDeviceSuiteName(suite)) {
    const isChosen = (name: string) => name.includes(filter);
    yield* runDeviceSuites(device, { ...options, filter: isChosen, suites: [suite], ...(version && { version }) });
  } else {
    const run = suite === "arithmetic" ? runArithmetic : runGraphs;
    yield* run(version === undefined ? device : deviceThrough(version, device), { ...options, filter });
  }
}
