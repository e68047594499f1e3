/**
 * The reference backend: a CPU device that runs the reference kernels of @nnhal/operations, one operation after the other.
 */
import { type Backend, capabilitiesOf, type KernelEngine, kernelBackend } from "@nnhal/backend";
import { DeviceType } from "@nnhal/types";
import { type Held, kernelOf } from "./kernel.ts";
import { createScratch } from "./scratch.ts";

/** Runs every operation of HAL 1.0 – 1.3, in plain JavaScript. */
export const referenceBackend: Backend = kernelBackend<Held>({
  name: "reference",
  deviceType: DeviceType.CPU,
  open: async () => createEngine(),
});

function createEngine(): KernelEngine<Held> {
  const scratch = createScratch();
  const shared = { scratch, widened: { bytes: 0 } };
  return {
    version: "nnhal-reference-1",
    // All other devices are compared with the reference.
    capabilities: capabilitiesOf({ float: 1, quantised: 1 }),
    powerBasis: "reference",
    isHost: true,
    warmsUp: false,
    kernels: (operation) => kernelOf(operation, shared),
    extentsOf: ({ dimensions }) => dimensions,
    upload: ({ type, dimensions, scale, zeroPoint, channelQuant }, data) => {
      const facts = { type, dimensions, scale, zeroPoint, data, isForeign: true };
      return channelQuant === undefined ? facts : { ...facts, channelQuant };
    },
    download: ({ data }) => data,
    release({ data, isForeign }) {
      if (!isForeign) scratch.giveBack(data);
    },
    releaseScratch: scratch.clear,
    close: scratch.clear,
  };
}
