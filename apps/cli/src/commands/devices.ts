/**
 * `nnhal devices`: lists the devices, and the missing parts of those that are not available.
 */

import type { FormChoice, PowerBasis, Unavailable } from "@nnhal/backend";
import { type ExtensionDefinition, elementAt } from "@nnhal/operations";
import { type SharedMemoryForm, sharedMemoryForm } from "@nnhal/service/shared-memory";
import {
  canonicalHalVersion,
  deviceStatusNames,
  deviceTypeNames,
  type Extension,
  featureLevels,
  type HalVersion,
} from "@nnhal/types";
import type { Command } from "commander";
import type { ModelCommandContext } from "../context.ts";
import type { FoundDevice } from "../devices.ts";
import { fit } from "../fit.ts";
import { columns, wrapList } from "../text.ts";

/** A device, as `--json` prints it. */
export interface DeviceJson {
  readonly name: string;
  /** CPU, GPU, ACCELERATOR or OTHER; null if the engine could not be loaded. */
  readonly type: string | null;
  /** The HAL version of its interface, and the NNAPI's number of that; null if the device is not available. */
  readonly halVersion: HalVersion | null;
  readonly featureLevel: number | null;
  /** null if the device is not available. */
  readonly version: string | null;
  /** The HAL's AVAILABLE, BUSY, OFFLINE or UNKNOWN; UNAVAILABLE if the device is not available. */
  readonly status: string;
  /**
   * Where its figures for power come from: `measured`, `derived` from its times, or `reference` for the device that has 1 by
   * definition; null if it does not say, or does not work here.
   */
  readonly power: PowerBasis | null;
  /** Of a device of a daemon: `shared`, or `copied: ` and why. */
  readonly memory?: string;
  /** Why it is UNAVAILABLE. */
  readonly reason?: string;
  /** Remedy. */
  readonly remedy?: string;
  /** The vendor extensions of an available device; absent if it has none. */
  readonly extensions?: readonly ExtensionJson[];
  /** The forms of computations that its self-check chose for this processor; absent if it has none. */
  readonly choices?: readonly ChoiceJson[];
  /** `now` if it has checked itself now, `kept` if what it found before was taken; absent if it does not check itself. */
  readonly selfCheck?: "now" | "kept";
  /** Missing parts of an available device, such as a faster engine; absent if there are none. */
  readonly missing?: readonly { readonly reason: string; readonly remedy?: string }[];
}

/** The form of a computation that a device uses, as `--json` prints it. */
export interface ChoiceJson {
  /** Computation that was chosen. */
  readonly subject: string;
  /** null if none is right on this processor: the operations are refused. */
  readonly chosen: string | null;
  /** Why it is not the preferred form; absent if it is. */
  readonly reason?: string;
}

/** A vendor extension of a device, as `--json` prints it. */
export interface ExtensionJson {
  readonly name: string;
  readonly operandTypes: readonly {
    /** The code within the extension. */
    readonly type: number;
    /** Its name; absent if the device's engine does not define it. */
    readonly name?: string;
    readonly isTensor: boolean;
    /** Of an element. */
    readonly byteSize: number;
  }[];
}

/** Answer of the allow-list about this program and the extensions of devices. */
export interface AllowListJson {
  /** The file. */
  readonly source: string;
  /** Why applications that this program starts must not use extensions; null if they may. */
  readonly refused: string | null;
}

const help = `
Engines are found, not bundled: a device whose package is not installed is listed as UNAVAILABLE, with what would help. So is what
a device that works does without, such as a faster engine. The column power says where a device's figures for power come from:
measured with energy counters, derived from its times, or reference for the device that all figures are relative to. Vendor
extensions of a device are listed below it, with the sizes of their types, and with what the allow-list says of this program.
Engines check themselves when they open. The result is kept for the same version on the same processor; --recheck makes a new check.
Below a device are the forms of computations that are right on this processor, and why a preferred one is not used. Below a device
of a daemon (--driver) is whether memories are shared with its process or copied.
The last line says how memory crosses to devices in other processes: mapped on both sides, or copied, and then why.

Examples:
  nnhal devices
  nnhal devices --json
  nnhal devices --backend ./my-backend.js
  nnhal devices --driver /run/user/1000/nnhal`;

/** Gives the command its arguments, options and work. */
export function registerDevicesCommand(command: Command, context: () => Promise<ModelCommandContext>): void {
  command
    .option("--json", "print the list as JSON")
    .option("--recheck", "let engines check themselves anew")
    .addHelpText("after", help)
    .action(async ({ json = false, recheck = false }: { readonly json?: boolean; readonly recheck?: boolean }) => {
      const { devices, stdout, allowList } = await context();
      const list = (await (recheck ? devices.recheck() : devices.list())).map(describe);
      const hasExtensions = list.some(({ extensions }) => extensions !== undefined);
      const found = { ...(hasExtensions && { allowList: allowList() }), sharedMemory: sharedMemoryForm() };
      stdout.write(
        json
          ? `${JSON.stringify({ devices: list, ...found })}\n`
          : fit(`${formatDevices(list, found, stdout.columns).join("\n")}\n`, stdout.columns),
      );
    });
}

function describe({
  name,
  type,
  opened,
  missing,
  powerBasis,
  choices = [],
  selfCheck,
  memory,
  extensions: definitions,
}: FoundDevice): DeviceJson {
  const common = { name, type: (type === undefined ? undefined : deviceTypeNames.get(type)) ?? null };
  if ("unavailable" in opened) {
    const unknown = { halVersion: null, featureLevel: null, version: null };
    return { ...common, ...unknown, status: "UNAVAILABLE", power: null, ...reasonOf(opened) };
  }
  const { halVersion = canonicalHalVersion } = opened;
  const { version } = opened.getVersionString();
  const status = deviceStatusNames.get(opened.getStatus()) ?? "UNKNOWN";
  const power = powerBasis ?? null;
  const extensions = opened
    .getSupportedExtensions()
    .extensions.map((extension) => describeTypes(extension, definitions));
  return {
    ...common,
    halVersion,
    featureLevel: featureLevels[halVersion],
    version,
    status,
    power,
    ...(memory !== undefined && { memory }),
    ...(choices.length > 0 && { choices: choices.map(choiceOf) }),
    ...(selfCheck !== undefined && { selfCheck }),
    ...(extensions.length > 0 && { extensions }),
    ...(missing.length > 0 && { missing: missing.map(reasonOf) }),
  };
}

function choiceOf({ subject, chosen, reason }: FormChoice): ChoiceJson {
  return { subject, chosen: chosen ?? null, ...(reason !== undefined && { reason }) };
}

/** An extension as a device describes it, with the names of its types. */
function describeTypes({ name, operandTypes }: Extension, definitions: readonly ExtensionDefinition[]): ExtensionJson {
  const known = definitions.find((definition) => definition.name === name)?.operandTypes ?? [];
  return {
    name,
    operandTypes: operandTypes.map(({ type, isTensor, byteSize }) => {
      const found = known.find(({ code }) => code === type);
      return { type, ...(found && { name: found.name }), isTensor, byteSize };
    }),
  };
}

function reasonOf({ unavailable, remedy }: Unavailable): { readonly reason: string; readonly remedy?: string } {
  return { reason: unavailable, ...(remedy !== undefined && { remedy }) };
}

function formatDevices(
  list: readonly DeviceJson[],
  { allowList, sharedMemory }: { readonly allowList?: AllowListJson; readonly sharedMemory: SharedMemoryForm },
  width: number | undefined,
): string[] {
  const [head, ...rows] = columns([
    ["name", "type", "HAL", "version", "status", "power"],
    ...list.map(({ name, type, halVersion, version, status, power }) => [
      ...[name, type ?? "-", halVersion ?? "-", version ?? "-"],
      ...[status, power ?? "-"],
    ]),
  ]);
  return [
    ...(head === undefined ? [] : [head]),
    ...rows.flatMap((row, place) => {
      const { reason, remedy, missing = [], memory, choices = [], selfCheck, extensions = [] } = elementAt(list, place);
      const advice = reason === undefined ? missing : [{ reason, remedy }];
      return [
        row,
        ...(memory === undefined ? [] : [`  memories are ${memory}`]),
        ...choices.map(formatChoice),
        ...(selfCheck === undefined ? [] : [`  self-check: ${selfCheckTexts[selfCheck]}`]),
        ...extensions.flatMap((each) => formatExtension(each, width)),
        ...advice.flatMap((each) => [`  ${each.reason}`, ...(each.remedy ? [`  to add it: ${each.remedy}`] : [])]),
      ];
    }),
    `shared memory: ${sharedMemory.why}`,
    ...(sharedMemory.remedy === undefined ? [] : [`  to add it: ${sharedMemory.remedy}`]),
    ...(allowList ? [formatAllowList(allowList)] : []),
  ];
}

function formatAllowList({ source, refused }: AllowListJson): string {
  if (refused === null) return `allow-list ${source}: this program may use extensions`;
  return refused.includes(source) ? `allow-list: ${refused}` : `allow-list ${source}: ${refused}`;
}

const selfCheckTexts = { now: "made now", kept: "of an earlier start; --recheck makes a new one" } as const;

function formatChoice({ subject, chosen, reason }: ChoiceJson): string {
  const form = chosen === null ? "refused" : `in the form ${chosen}`;
  return `  ${subject}: ${form}${reason === undefined ? "" : `; ${reason}`}`;
}

/** The types in lines for people: scalars, then tensors, each with the bytes of an element. */
function formatExtension({ name, operandTypes }: ExtensionJson, width: number | undefined): string[] {
  const listed = (what: string, areTensors: boolean) => {
    const types = operandTypes
      .filter(({ isTensor }) => isTensor === areTensors)
      .map(({ type, name: typeName, byteSize }) => `${typeName ?? `type ${type}`} ${byteSize}`);
    return types.length === 0 ? [] : wrapList(`    ${what}: `, types, width);
  };
  return [`  extension ${name}`, ...listed("scalars, bytes", false), ...listed("tensors, bytes an element", true)];
}
