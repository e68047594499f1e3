/**
 * The devices that the command line can open by name.
 */
import type { Backend } from "@nnhal/backend";
import { openDevice as openDeviceOver } from "@nnhal/driver-core/device";
import type { Device } from "@nnhal/types";

/** Backends by the name of their device; loaded only when asked for. */
const backends: Readonly<Record<string, () => Promise<Backend>>> = {
  reference: async () => (await import("@nnhal/backend-reference")).referenceBackend,
};

/** Opens a device, by its name with or without the prefix `nnhal-`. */
export async function openDevice(name: string): Promise<Device> {
  const key = name.replace(/^nnhal-/, "");
  if (!Object.hasOwn(backends, key)) {
    throw new Error(`there is no device "${name}"; there are: ${Object.keys(backends).join(", ")}`);
  }
  const opened = await openDeviceOver({ backend: await backends[key]() });
  if (!("unavailable" in opened)) return opened;
  throw new Error(`device ${name} cannot work here: ${opened.unavailable}${opened.remedy ? `; ${opened.remedy}` : ""}`);
}
