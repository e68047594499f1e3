/**
 * `nnhal devices`: lists the devices there are, and what is missing for those that do not work here.
 */
import { deviceStatusNames, deviceTypeNames } from "@nnhal/types";
import type { Command } from "commander";
import type { ModelCommandContext } from "../context.ts";
import type { FoundDevice } from "../devices.ts";
import { columns } from "../text.ts";

/** A device, as `--json` prints it. */
export interface DeviceJson {
  readonly name: string;
  /** CPU, GPU, ACCELERATOR or OTHER; null where the engine could not be loaded. */
  readonly type: string | null;
  /** null where the device does not work here. */
  readonly version: string | null;
  /** The HAL's AVAILABLE, BUSY, OFFLINE or UNKNOWN; UNAVAILABLE where the device does not work here. */
  readonly status: string;
  /** Why it is UNAVAILABLE. */
  readonly reason?: string;
  /** What would help. */
  readonly remedy?: string;
}

const help = `
Engines are found, not bundled: a device whose package is not installed is listed as UNAVAILABLE, with what would help.

Examples:
  nnhal devices
  nnhal devices --json
  nnhal devices --backend ./my-backend.js`;

/** Adds the command to a program. */
export function registerDevicesCommand(program: Command, context: () => Promise<ModelCommandContext>): void {
  program
    .command("devices")
    .description("list the devices, and what those that do not work here need")
    .option("--json", "print the list as JSON")
    .addHelpText("after", help)
    .action(async ({ json = false }: { readonly json?: boolean }) => {
      const { devices, stdout } = await context();
      const list = (await devices.list()).map(describe);
      stdout.write(json ? `${JSON.stringify({ devices: list })}\n` : `${formatDevices(list).join("\n")}\n`);
    });
}

function describe({ name, type, opened }: FoundDevice): DeviceJson {
  const common = { name, type: (type === undefined ? undefined : deviceTypeNames.get(type)) ?? null };
  if ("unavailable" in opened) {
    const { unavailable: reason, remedy } = opened;
    return { ...common, version: null, status: "UNAVAILABLE", reason, ...(remedy !== undefined && { remedy }) };
  }
  const { version } = opened.getVersionString();
  return { ...common, version, status: deviceStatusNames.get(opened.getStatus()) ?? "UNKNOWN" };
}

function formatDevices(list: readonly DeviceJson[]): string[] {
  const [head, ...rows] = columns([
    ["name", "type", "version", "status"],
    ...list.map(({ name, type, version, status }) => [name, type ?? "-", version ?? "-", status]),
  ]);
  return [
    head,
    ...rows.flatMap((row, place) => {
      const { reason, remedy } = list[place];
      return [row, ...(reason ? [`  ${reason}`] : []), ...(remedy ? [`  to add it: ${remedy}`] : [])];
    }),
  ];
}
