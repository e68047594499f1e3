/** Devices over the ort backend. */
import { type DeviceOptions, openDevice } from "@nnhal/driver-core/device";
import type { Device } from "@nnhal/types";
import { ortBackend } from "./ort-backend.ts";

/** The device with one thread. */
export async function deviceOf(options: Partial<DeviceOptions> = {}): Promise<Device> {
  const device = await openDevice({ backend: ortBackend({ threads: 1 }), ...options });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}
