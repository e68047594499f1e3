/** The devices over the engines, opened as this processor has them. */
import type { Backend, FormChoice } from "@nnhal/backend";
import { gpujsBackend } from "@nnhal/backend-gpujs";
import { ortBackend } from "@nnhal/backend-ort";
import { tfjsBackend } from "@nnhal/backend-tfjs";
import { backend as wasmBackend } from "@nnhal/backend-wasm";
import { openDevice } from "@nnhal/driver-core/device";
import type { Device } from "@nnhal/types";
import type { EngineName } from "../plan.ts";

const backends: Readonly<Record<EngineName, () => Backend>> = {
  // One thread: an emulator has no use for more, and where sums are divided does not depend on the host then.
  ort: () => ortBackend({ threads: 1 }),
  wasm: () => wasmBackend,
  "tfjs wasm": () => tfjsBackend({ engine: "wasm" }),
  "tfjs node": () => tfjsBackend({ engine: "node" }),
  "gpujs webasm": () => gpujsBackend({ mode: "webasm" }),
  "gpujs cpu": () => gpujsBackend({ mode: "cpu" }),
};

/** An engine as it was opened. */
export interface OpenedEngine {
  readonly device: Device;
  readonly version: string;
  /** Choices of its self-check. */
  readonly choices: readonly FormChoice[];
}

/** Opens an engine. Returns why not if that is not possible. */
export async function openEngine(name: EngineName): Promise<OpenedEngine | { readonly unavailable: string }> {
  const backend = backends[name]();
  let choices: readonly FormChoice[] = [];
  const open: Backend["open"] = async (options) => {
    const session = await backend.open(options);
    if (!("unavailable" in session)) choices = session.choices ?? [];
    return session;
  };
  const device = await openDevice({ backend: { name: backend.name, deviceType: backend.deviceType, open } });
  if ("unavailable" in device) return device;
  return { device, version: device.getVersionString().version, choices };
}
