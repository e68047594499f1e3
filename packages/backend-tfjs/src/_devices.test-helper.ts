/** Devices over the tfjs backend. */
import { type DeviceOptions, openDevice } from "@nnhal/driver-core/device";
import type { Device } from "@nnhal/types";
import { tfjsBackend } from "./tfjs-backend.ts";

/** The device over an engine that is always there. */
export async function deviceOn(engine: "wasm" | "cpu", options: Partial<DeviceOptions> = {}): Promise<Device> {
  const device = await openDevice({ backend: tfjsBackend({ engine }), ...options });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}
