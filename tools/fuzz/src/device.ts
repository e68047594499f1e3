/** The devices that targets use: the reference and the compiler to WebAssembly, with the extension of .tflite, and little memory. */
import type { Backend } from "@nnhal/backend";
import { createReferenceBackend } from "@nnhal/backend-reference";
import { backend as wasm } from "@nnhal/backend-wasm";
import { type DeviceOptions, type OpenedDevice, openDevice } from "@nnhal/driver-core/device";
import { tfliteExtension } from "@nnhal/extension-tflite";
import type { ExtensionDefinition } from "@nnhal/operations";
import { silentLogger } from "@nnhal/utils";

/** Bytes of temporary results: large ones are refused, so that an input cannot use up the machine. */
const temporaryLimit = 32 * 2 ** 20;

/** Nanoseconds that a call may take. */
export const callTime = 300_000_000n;

/** When a call that starts now must be over. */
export function soon(): bigint {
  return process.hrtime.bigint() + callTime;
}

/** `extensions`: those besides that of .tflite. */
export function openReference(
  options: Partial<DeviceOptions> = {},
  extensions: readonly ExtensionDefinition[] = [],
): Promise<OpenedDevice> {
  return open(createReferenceBackend({ extensions: [tfliteExtension, ...extensions] }), options);
}

/** The device that compiles networks to WebAssembly, with the extension of .tflite. */
export function openWasm(): Promise<OpenedDevice> {
  return open(wasm.withExtensions?.([tfliteExtension]) ?? wasm, {});
}

async function open(backend: Backend, options: Partial<DeviceOptions>): Promise<OpenedDevice> {
  const device = await openDevice({ backend, temporaryLimit, log: silentLogger, ...options });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}
