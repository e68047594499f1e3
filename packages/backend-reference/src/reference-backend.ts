/**
 * The reference backend: a CPU device that runs the reference kernels of @nnhal/operations, one operation after the other.
 */

import { type Backend, capabilitiesOf, type KernelEngine, kernelBackend } from "@nnhal/backend";
import type { WebWorker } from "@nnhal/backend/threads";
import { type ExtensionDefinition, expectKnownOptions, type Operation, type OptionNames } from "@nnhal/operations";
import { DeviceType } from "@nnhal/types";
import { ifPermitted } from "@nnhal/utils";
import { type Held, type Helper, hold, kernelOf } from "./kernel.ts";
import { createScratch } from "./scratch.ts";

/** Options of `createReferenceBackend`. */
export interface ReferenceBackendOptions {
  /** Extensions whose reference kernels it runs. Default: none. */
  readonly extensions?: readonly ExtensionDefinition[] | undefined;
  /**
   * The definition whose kernel computes an operation of the HAL, of the same parameters and shapes: for tests that plant a fault.
   * Default: its own.
   */
  readonly definitionFor?: ((operation: Operation) => Operation) | undefined;
  /**
   * The threads of a model, 1 to 64, with the same results. They share large operations of the HAL and of nnhal.tflite; all others are computed by one. Needs SharedArrayBuffer, which
   * a page has only if it is isolated (COOP and COEP), and in a page `startThread`; without them one thread computes, and the choices of the session say
   * why. Default: the environment variable NNHAL_REFERENCE_THREADS, else 1.
   */
  readonly threads?: number | undefined;
  /**
   * Starts a worker of a page with the module `@nnhal/backend-reference/thread`, in the words that the bundler looks for, such as
   * `() => new Worker(new URL("./thread.js", import.meta.url), { type: "module" })`. Not used in Node.js.
   */
  readonly startThread?: (() => WebWorker) | undefined;
}

const backendOptions: OptionNames<ReferenceBackendOptions> = {
  extensions: true,
  definitionFor: true,
  threads: true,
  startThread: true,
};

/** Creates a backend that runs every operation of HAL 1.0 – 1.3 and those of some extensions, in plain JavaScript. */
export function createReferenceBackend(options: ReferenceBackendOptions = {}): Backend {
  expectKnownOptions("createReferenceBackend", options, backendOptions);
  return kernelBackend<Held>({
    name: "reference",
    deviceType: DeviceType.CPU,
    async open() {
      const given = options.threads ?? (ifPermitted(() => globalThis.process?.env.NNHAL_REFERENCE_THREADS) || 1);
      // One thread needs no code for others.
      if (given === 1) return createEngine(options);
      return (await import("./threads/open.ts")).openHelped(given, options, createEngine, createScratch);
    },
  });
}

/** Runs every operation of HAL 1.0 – 1.3, in plain JavaScript. It has no extensions: see `createReferenceBackend`. */
export const referenceBackend: Backend = createReferenceBackend();

/** Creates the engine, with threads that help its kernels if there are some. */
export function createEngine(
  { extensions = [], definitionFor = (operation) => operation }: ReferenceBackendOptions,
  helper?: Helper,
): KernelEngine<Held> {
  const scratch = helper?.scratch ?? createScratch();
  const shared = { scratch, widened: { bytes: 0 }, helper };
  const kernels = (operation: Operation) => kernelOf(operation, shared);
  return {
    version: ["nnhal-reference-1", ...extensions.map(({ name }) => name)].join("+"),
    // All other devices are compared with the reference.
    capabilities: capabilitiesOf({ float: 1, quantised: 1 }),
    powerBasis: "reference",
    isHost: true,
    warmsUp: false,
    kernels: (operation) => kernels(definitionFor(operation)),
    extensions: extensions.map((extension) => ({ extension, kernels })),
    extentsOf: ({ dimensions }) => dimensions,
    upload: (info, data) => hold(info, data, true),
    download: ({ data }) => data,
    release({ data, isForeign }) {
      if (!isForeign) scratch.giveBack(data);
    },
    releaseScratch: scratch.clear,
    close() {
      scratch.clear();
      helper?.close();
    },
  };
}
