/**
 * The devices of an application. Each is asked once for its facts; a device that does not answer is left out (NNAPI:
 * ANeuralNetworks_getDeviceCount, getDevice and ANeuralNetworksDevice).
 */
import type { ExtensionDefinition, OptionNames } from "@nnhal/operations";
import {
  type Capabilities,
  type DEVICE_TYPE_UNKNOWN,
  type Device,
  DeviceStatus,
  type DeviceType,
  ErrorStatus,
  type Extension,
  featureLevels,
} from "@nnhal/types";
import { defaultLogger, type Logger, type MergedExtensions, mergeExtensions } from "@nnhal/utils";
import { type AllowList, type Application, currentApplication, readAllowList } from "./allow-list.ts";
import { Compilation, type CompilationOptions } from "./compilation.ts";
import type { FinishedModel } from "./finished-model.ts";
import { expectFunction, expectGiven, expectKind, optionsOf } from "./given.ts";
import { soundDevicesGiven } from "./given-devices.ts";
import { guardDevice } from "./guard/device.ts";
import type { Model } from "./model.ts";
import { expect, ResultCode } from "./result-code.ts";

/** A device and its facts. */
export interface RegisteredDevice {
  readonly device: Device;
  readonly name: string;
  /** DEVICE_TYPE_UNKNOWN of a device older than HAL 1.2. */
  readonly type: DeviceType | typeof DEVICE_TYPE_UNKNOWN;
  readonly version: string;
  /** Android's API level: 27, 28, 29 and 30 for HAL 1.0 to 1.3. */
  readonly featureLevel: number;
  readonly capabilities: Capabilities;
  readonly extensions: readonly Extension[];
  /** The number of files in which it keeps a compilation; 0: it keeps none. */
  readonly numberOfCacheFiles: { readonly numModelCache: number; readonly numDataCache: number };
  /** Returns whether it supports an extension, given by its definition or its name. */
  getExtensionSupport(extension: Pick<ExtensionDefinition, "name"> | string): boolean;
  /** Resolves once the device is in a live state: not OFFLINE. */
  wait(): Promise<void>;
}

/** Registered devices, and the extensions that they describe together. */
export interface DeviceRegistry {
  /** In the order given, the CPU last. */
  readonly devices: readonly RegisteredDevice[];
  readonly cpu: RegisteredDevice | undefined;
  /** Devices that are left out, and why. */
  readonly refused: readonly { readonly name: string; readonly reason: string }[];
  /**
   * The extensions of the devices, for `ModelOptions.extensions`. An extension that two devices describe differently is left out;
   * all are left out if the application must not use extensions.
   */
  readonly extensions: readonly Extension[];
  /** The extensions that are left out, and why, by name. */
  readonly disabledExtensions: ReadonlyMap<string, string>;
  getDeviceCount(): number;
  /** Throws BAD_DATA if there is no such index. */
  getDevice(index: number): RegisteredDevice;
  /** A compilation for all devices, with fallback to the CPU. `new Compilation(model, [device])` is for explicit ones. */
  createCompilation(model: Model | FinishedModel, options?: Omit<CompilationOptions, "cpu">): Compilation;
}

/** Options of registering devices. */
export interface RegisterOptions {
  /** The device that supports every model: failed work may fall back to it. It comes last. Default: none. */
  readonly cpu?: Device | undefined;
  /** Receives the problems of devices. Default: the console. */
  readonly log?: Logger | undefined;
  /** Which applications may use the extensions of devices. Default: `readAllowList()`, the machine's. */
  readonly allowList?: AllowList | undefined;
  /** The application that asks to use extensions. Default: `currentApplication()`, the script of this process. */
  readonly application?: Application | undefined;
  /** Waits for some milliseconds before a device is asked for its status again. Default: the system's timer. */
  readonly sleep?: ((milliseconds: number) => Promise<void>) | undefined;
}

const registerOptions: OptionNames<RegisterOptions> = {
  cpu: true,
  log: true,
  allowList: true,
  application: true,
  sleep: true,
};

/**
 * Asks devices for their facts. Throws UNEXPECTED_NULL or BAD_DATA for a value that is not a device, a device that is listed
 * twice, and two devices with the same name. A device that throws, or breaks the rules of the HAL, is left out.
 */
export function registerDevices(devices: readonly Device[], options: RegisterOptions = {}): DeviceRegistry {
  const what = "registerDevices";
  const {
    cpu,
    log = defaultLogger,
    sleep = systemSleep,
    allowList,
    application,
  } = optionsOf(options, what, registerOptions);
  expectKind(log, "Logger", what, "log");
  expectFunction(sleep, what, "sleep");
  const given = soundDevicesGiven(devices, cpu, what);
  log.initVLogMask();
  const refused = [...given.flawed];
  const registered: RegisteredDevice[] = [];
  for (const { own } of given.devices) {
    const known = ask(own, sleep);
    if ("reason" in known) refused.push(known);
    else registered.push(known);
  }
  for (const { name, reason } of refused) log.error(`device ${name} is left out: ${reason}`);
  log.VLOG("MANAGER", () => {
    const texts = registered.map(({ name, version, featureLevel }) => `${name} (${version}, level ${featureLevel})`);
    return `registered ${registered.length} devices: ${texts.join(", ")}; left out: ${refused.length}`;
  });
  const { extensions, disabled } = findAllowedExtensions(mergeExtensions(registered), { allowList, application }, log);
  for (const [name, reason] of disabled) log.warning(`extension ${name} is left out: ${reason}`);
  const registeredCpu = registered.find(({ device }) => device === cpu);
  return {
    devices: registered,
    cpu: registeredCpu,
    refused,
    extensions,
    disabledExtensions: disabled,
    getDeviceCount: () => registered.length,
    getDevice(index) {
      const device = registered[index];
      const count = registered.length;
      expect(
        device !== undefined,
        ResultCode.BAD_DATA,
        () => `getDevice: there is no device ${index}, there are ${count}`,
      );
      return device;
    },
    createCompilation: (model, compilationOptions = {}) =>
      new Compilation(
        model,
        registered.map(({ device }) => device),
        { ...optionsOf(compilationOptions, "createCompilation"), ...(registeredCpu && { cpu: registeredCpu.device }) },
      ),
  };
}

/** The extensions that the application may use. The list is read only if there are any. */
function findAllowedExtensions(
  merged: MergedExtensions,
  { allowList, application }: Pick<RegisterOptions, "allowList" | "application">,
  log: Logger,
): MergedExtensions {
  if (merged.extensions.length === 0) return merged;
  const list = allowList ?? readAllowList({ log });
  const reason = list.whyRefused(application ?? currentApplication());
  if (reason === undefined) return merged;
  const disabled = new Map([...merged.extensions.map(({ name }) => [name, reason] as const), ...merged.disabled]);
  return { extensions: [], disabled };
}

/** The facts of a device, or why it cannot be used. */
function ask(
  device: Device,
  sleep: (milliseconds: number) => Promise<void>,
): RegisteredDevice | { readonly name: string; readonly reason: string } {
  const guarded = guardDevice(device);
  const { name, halVersion } = guarded;
  const { capabilities, ...first } = guarded.getCapabilities();
  const { version, ...second } = guarded.getVersionString();
  const { type, ...third } = guarded.getType();
  const { extensions, ...fourth } = guarded.getSupportedExtensions();
  const { numModelCache, numDataCache, ...fifth } = guarded.getNumberOfCacheFilesNeeded();
  const failed = [first, second, third, fourth, fifth].find(({ status }) => status !== ErrorStatus.NONE);
  if (failed !== undefined) return { name, reason: failed.message ?? `status ${failed.status}` };
  return {
    device,
    name,
    type,
    version,
    featureLevel: featureLevels[halVersion],
    capabilities,
    extensions,
    numberOfCacheFiles: { numModelCache, numDataCache },
    getExtensionSupport(extension) {
      expectGiven(extension, "getExtensionSupport", "extension");
      const wanted = typeof extension === "object" ? extension.name : extension;
      return extensions.some(({ name }) => name === wanted);
    },
    async wait() {
      while (guarded.getStatus() === DeviceStatus.OFFLINE) await sleep(10);
    },
  };
}

function systemSleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
