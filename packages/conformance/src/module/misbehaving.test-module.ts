/**
 * Devices that misbehave, as a module: the one that the query of its address names, or NNHAL_TEST_FAULT.
 */
import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice as openReference } from "@nnhal/driver-core/device";
import { type Device, ErrorStatus, type ExecutionResult, type PreparedModel } from "@nnhal/types";

type Execute = PreparedModel["execute"];

const name = new URL(import.meta.url).searchParams.get("fault") ?? process.env.NNHAL_TEST_FAULT ?? "none";

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

export async function openDevice(): Promise<Device> {
  const device = await openReference({ backend: referenceBackend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  const fault = faults[name];
  return {
    ...device,
    ...(name === "supports nothing" && {
      getSupportedOperations: ({ main }) => ({
        status: ErrorStatus.NONE,
        supported: main.operations.map(() => false),
        reasons: main.operations.map(() => "not today"),
      }),
    }),
    async prepareModel(model, options) {
      const result = await device.prepareModel(model, options);
      const { preparedModel } = result;
      if (preparedModel === null || fault === undefined) return result;
      return { ...result, preparedModel: { ...preparedModel, execute: fault(preparedModel.execute) } };
    },
  };
}
