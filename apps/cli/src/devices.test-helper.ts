/** Devices over backends, for tests. */
import { type DeviceOptions, type OpenedDevice, openDevice } from "@nnhal/driver-core/device";

/** The device over a backend. Rejects with the reason if it is unavailable. */
export async function deviceOf(backend: DeviceOptions["backend"]): Promise<OpenedDevice> {
  const device = await openDevice({ backend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}
