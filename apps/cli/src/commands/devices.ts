/**
 * `nnhal devices`: lists the devices, and the missing parts of those that are not available.
 */

import type { PowerBasis, Unavailable } from "@nnhal/backend";
import { elementAt } from "@nnhal/operations";
import { deviceStatusNames, deviceTypeNames } from "@nnhal/types";
import type { Command } from "commander";
import type { ModelCommandContext } from "../context.ts";
import type { FoundDevice } from "../devices.ts";
import { columns } from "../text.ts";

/** A device, as `--json` prints it. */
export interface DeviceJson {
  readonly name: string;
  /** CPU, GPU, ACCELERATOR or OTHER; null if the engine could not be loaded. */
  readonly type: string | null;
  /** null if the device is not available. */
  readonly version: string | null;
  /** The HAL's AVAILABLE, BUSY, OFFLINE or UNKNOWN; UNAVAILABLE if the device is not available. */
  readonly status: string;
  /**
   * Where its figures for power come from: `measured`, `derived` from its times, or `reference` for the device that has 1 by
   * definition; null if it does not say, or does not work here.
   */
  readonly power: PowerBasis | null;
  /** Why it is UNAVAILABLE. */
  readonly reason?: string;
  /** What would help. */
  readonly remedy?: string;
  /** Missing parts of an available device, such as a faster engine; absent if there are none. */
  readonly missing?: readonly { readonly reason: string; readonly remedy?: string }[];
}

const help = `
Engines are found, not bundled: a device whose package is not installed is listed as UNAVAILABLE, with what would help. So is what
a device that works does without, such as a faster engine. The column power says where a device's figures for power come from:
measured with energy counters, derived from its times, or reference for the device that all figures are relative to.

Examples:
  nnhal devices
  nnhal devices --json
  nnhal devices --backend ./my-backend.js`;

/** Adds the command to a program. */
export function registerDevicesCommand(program: Command, context: () => Promise<ModelCommandContext>): void {
  program
    .command("devices")
    .description("list the devices, and the missing parts of those that are not available")
    .option("--json", "print the list as JSON")
    .addHelpText("after", help)
    .action(async ({ json = false }: { readonly json?: boolean }) => {
      const { devices, stdout } = await context();
      const list = (await devices.list()).map(describe);
      stdout.write(json ? `${JSON.stringify({ devices: list })}\n` : `${formatDevices(list).join("\n")}\n`);
    });
}

function describe({ name, type, opened, missing, powerBasis }: FoundDevice): DeviceJson {
  const common = { name, type: (type === undefined ? undefined : deviceTypeNames.get(type)) ?? null };
  if ("unavailable" in opened) {
    return { ...common, version: null, status: "UNAVAILABLE", power: null, ...reasonOf(opened) };
  }
  const { version } = opened.getVersionString();
  const status = deviceStatusNames.get(opened.getStatus()) ?? "UNKNOWN";
  const power = powerBasis ?? null;
  return { ...common, version, status, power, ...(missing.length > 0 && { missing: missing.map(reasonOf) }) };
}

function reasonOf({ unavailable, remedy }: Unavailable): { readonly reason: string; readonly remedy?: string } {
  return { reason: unavailable, ...(remedy !== undefined && { remedy }) };
}

function formatDevices(list: readonly DeviceJson[]): string[] {
  const [head, ...rows] = columns([
    ["name", "type", "version", "status", "power"],
    ...list.map(({ name, type, version, status, power }) => [name, type ?? "-", version ?? "-", status, power ?? "-"]),
  ]);
  return [
    ...(head === undefined ? [] : [head]),
    ...rows.flatMap((row, place) => {
      const { reason, remedy, missing = [] } = elementAt(list, place);
      const advice = reason === undefined ? missing : [{ reason, remedy }];
      return [
        row,
        ...advice.flatMap((each) => [`  ${each.reason}`, ...(each.remedy ? [`  to add it: ${each.remedy}`] : [])]),
      ];
    }),
  ];
}
