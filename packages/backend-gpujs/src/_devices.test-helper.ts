/** Devices over the gpu.js backend. */
import { kernelBackend } from "@nnhal/backend";
import { openDevice } from "@nnhal/driver-core/device";
import { type Device, DeviceType } from "@nnhal/types";
import { engineOn } from "./gpujs-backend.ts";
import type { Machine, ModeName } from "./machine/machine.ts";
import { openMachine } from "./machine/open.ts";

/** The device over a mode. */
export async function deviceOn(mode: ModeName): Promise<Device> {
  return (await deviceOver(mode)).device;
}

/** The device over a mode, and the machine that it computes with. */
export async function deviceOver(mode: ModeName): Promise<{ readonly device: Device; readonly machine: Machine }> {
  const opened = await openMachine(mode);
  if ("unavailable" in opened) throw new Error(opened.unavailable);
  const { machine } = opened;
  return { device: await deviceOf(machine), machine };
}

/** The device that computes with a machine. */
export async function deviceOf(machine: Machine): Promise<Device> {
  const backend = kernelBackend({ name: "gpujs", deviceType: DeviceType.CPU, open: async () => engineOn(machine) });
  const device = await openDevice({ backend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}
