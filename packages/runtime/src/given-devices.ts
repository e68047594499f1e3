/**
 * The devices that a caller passes: each must be a device with a unique name, since plans, logs and caches name devices.
 */
import type { Device } from "@nnhal/types";
import { expectKind, expectList } from "./given.ts";
import { type GuardedDevice, guardDevice } from "./guard/device.ts";
import { expect, ResultCode } from "./result-code.ts";

/** Devices behind the guard. */
export interface GivenDevices {
  /** In planning order: the CPU last. */
  readonly devices: readonly GuardedDevice[];
  readonly cpu?: GuardedDevice;
}

/**
 * The devices of a list, and the CPU, which need not be in the list. Throws UNEXPECTED_NULL or BAD_DATA for a value that is not
 * a device, a device that is listed twice, and two devices with the same name.
 */
export function devicesGiven(devices: readonly Device[], cpu: Device | undefined, what: string): GivenDevices {
  const given = list(devices, cpu, what);
  for (const [name, { flaw }] of given) {
    expect(flaw === undefined, ResultCode.BAD_DATA, () => `${what}: ${name} cannot be used: ${flaw}`);
  }
  return order([...given.values()], cpu);
}

/** The devices that can be used, and the reasons why others cannot. */
export function soundDevicesGiven(
  devices: readonly Device[],
  cpu: Device | undefined,
  what: string,
): GivenDevices & { readonly flawed: readonly { readonly name: string; readonly reason: string }[] } {
  const given = list(devices, cpu, what);
  const flawed = [...given].flatMap(([name, { flaw }]) => (flaw === undefined ? [] : [{ name, reason: flaw }]));
  return {
    ...order(
      [...given.values()].filter(({ flaw }) => flaw === undefined),
      cpu,
    ),
    flawed,
  };
}

function order(devices: readonly GuardedDevice[], cpu: Device | undefined): GivenDevices {
  const last = cpu && guardDevice(cpu);
  if (last === undefined || !devices.includes(last)) return { devices };
  return { devices: [...devices.filter((device) => device !== last), last], cpu: last };
}

/** The devices by argument: `devices[0]`, `cpu`. */
function list(devices: readonly Device[], cpu: Device | undefined, what: string): Map<string, GuardedDevice> {
  expectList(devices, what, "devices");
  const given = new Map<string, GuardedDevice>();
  for (const [index, device] of devices.entries()) add(device, `devices[${index}]`);
  if (cpu !== undefined) {
    expectKind(cpu, "Device", what, "cpu");
    if (![...given.values()].includes(guardDevice(cpu))) add(cpu, "cpu");
  }
  return given;

  function add(device: Device, place: string): void {
    expectKind(device, "Device", what, place);
    const guarded = guardDevice(device);
    for (const [other, known] of given) {
      const isSame = known === guarded;
      expect(!isSame, ResultCode.BAD_DATA, () => `${what}: ${guarded.name} is listed twice, as ${other} and ${place}`);
      const isApart = known.name !== guarded.name || known.flaw !== undefined || guarded.flaw !== undefined;
      const both = `${other} and ${place} are two devices of the name ${guarded.name}`;
      expect(isApart, ResultCode.BAD_DATA, () => `${what}: ${both}; each needs its own`);
    }
    given.set(place, guarded);
  }
}
