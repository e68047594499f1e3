/**
 * Engines of the browser besides the default ones, and those that judge another.
 */
import { type OpenedDevice, openDevice } from "@nnhal/driver-core/device";
import { tfliteExtension } from "@nnhal/extension-tflite";
import type { ExtensionDefinition } from "@nnhal/operations";
import { silentLogger } from "@nnhal/utils";

/** Engines that are loaded once they are chosen, by the names of their devices. */
const engines = {
  tfjs: async () => (await import("./tfjs-engine.ts")).loadTfjs(),
  // WebGPU and WebAssembly, so it makes no functions from texts, which the policy of the page forbids.
  gpujs: () => import("@nnhal/backend-gpujs"),
};

const judges = { ...engines, wasm: () => import("@nnhal/backend-wasm") };

/** The engine of a device if it is not a default one. */
export function engineOf(device: string): (() => Promise<unknown>) | undefined {
  return isNameIn(engines, device) ? engines[device] : undefined;
}

/**
 * Opens a device of the browser that judges another, for networks with these extensions; undefined if it is not one of these engines. Rejects
 * with the reason if it does not work here.
 */
export async function openJudge(
  device: string,
  extensions: readonly ExtensionDefinition[],
): Promise<OpenedDevice | undefined> {
  if (!isNameIn(judges, device)) return undefined;
  const { backend } = await judges[device]();
  const extended = backend.withExtensions?.([tfliteExtension, ...extensions]) ?? backend;
  const opened = await openDevice({ backend: extended, log: silentLogger });
  if ("unavailable" in opened) throw new Error(`nnhal-${device} cannot judge here: ${opened.unavailable}`);
  return opened;
}

function isNameIn<Names extends object>(names: Names, name: string): name is Extract<keyof Names, string> {
  return Object.hasOwn(names, name);
}
