/**
 * The reference backend: a CPU device that runs the reference kernels of @nnhal/operations, one operation after the other.
 */

import { type Backend, capabilitiesOf, type KernelEngine, kernelBackend } from "@nnhal/backend";
import { type ExtensionDefinition, expectKnownOptions, type Operation, type OptionNames } from "@nnhal/operations";
import { DeviceType } from "@nnhal/types";
import { type Held, hold, kernelOf } from "./kernel.ts";
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
}

const backendOptions: OptionNames<ReferenceBackendOptions> = {
  extensions: true,
  definitionFor: true,
};

/** Creates a backend that runs every operation of HAL 1.0 – 1.3 and those of some extensions, in plain JavaScript. */
export function createReferenceBackend(options: ReferenceBackendOptions = {}): Backend {
  expectKnownOptions("createReferenceBackend", options, backendOptions);
  const { extensions = [], definitionFor = (operation) => operation } = options;
  return kernelBackend<Held>({
    name: "reference",
    deviceType: DeviceType.CPU,
    open: async () => createEngine(extensions, definitionFor),
  });
}

/** Runs every operation of HAL 1.0 – 1.3, in plain JavaScript. It has no extensions: see `createReferenceBackend`. */
export const referenceBackend: Backend = createReferenceBackend();

function createEngine(
  extensions: readonly ExtensionDefinition[],
  definitionFor: (operation: Operation) => Operation,
): KernelEngine<Held> {
  const scratch = createScratch();
  const shared = { scratch, widened: { bytes: 0 } };
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
    close: scratch.clear,
  };
}
