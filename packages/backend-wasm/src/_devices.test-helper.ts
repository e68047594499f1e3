/** Devices over the wasm backend. */
import { type DeviceOptions, openDevice } from "@nnhal/driver-core/device";
import type { Device } from "@nnhal/types";
import { backend } from "./wasm-backend.ts";

/** The device. */
export async function deviceOf(options: Partial<DeviceOptions> = {}): Promise<Device> {
  const device = await openDevice({ backend, ...options });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}
