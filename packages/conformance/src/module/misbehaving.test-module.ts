/**
 * Devices that misbehave. As a module, its device is the one that the query of its address names.
 */
import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice as openReference } from "@nnhal/driver-core/device";
import { type Device, ErrorStatus, type ExecutionResult, type PreparedModel } from "@nnhal/types";

type Execute = PreparedModel["execute"];

const kept: Uint8Array[] = [];

const faults: Readonly<Record<string, (right: Execute) => Execute>> = {
  none: (right) => right,
  // Without the processor's time, which a loop would use.
  blocks: (right) => (request, options) => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    return right(request, options);
  },
  throws: () => () => {
    throw new Error("it throws");
  },
  "never answers": () => () => new Promise<ExecutionResult>(() => {}),
  "ends the process": () => () => process.exit(3),
  leaks: (right) => (request, options) => {
    kept.push(new Uint8Array(1 << 21));
    return right(request, options);
  },
};

export function openDevice(): Promise<Device> {
  return openMisbehaving(new URL(import.meta.url).searchParams.get("fault") ?? "none");
}

/** Opens a device that has a fault: one of those above, "supports nothing" or "none". */
export async function openMisbehaving(fault: string): Promise<Device> {
  const device = await openReference({ backend: referenceBackend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  const execute = faults[fault];
  return {
    ...device,
    ...(fault === "supports nothing" && {
      getSupportedOperations: ({ main }) => ({
        status: ErrorStatus.NONE,
        supported: main.operations.map(() => false),
        reasons: main.operations.map(() => "not today"),
      }),
    }),
    async prepareModel(model, options) {
      const result = await device.prepareModel(model, options);
      const { preparedModel } = result;
      if (preparedModel === null || execute === undefined) return result;
      return { ...result, preparedModel: { ...preparedModel, execute: execute(preparedModel.execute) } };
    },
  };
}
