/**
 * The devices of an application: asked once for all that there is to know of them, those that do not answer left out
 * (NNAPI: ANeuralNetworks_getDeviceCount, getDevice and ANeuralNetworksDevice).
 */
import {
  type Capabilities,
  type DEVICE_TYPE_UNKNOWN,
  type Device,
  DeviceStatus,
  type DeviceType,
  ErrorStatus,
  type Extension,
  type HalVersion,
  MAX_NUMBER_OF_CACHE_FILES,
  type Outcome,
} from "@nnhal/types";
import { defaultLogger, type Logger } from "@nnhal/utils";
import { expectDevices, expectGiven } from "./checks.ts";
import { Compilation, type CompilationOptions } from "./compilation.ts";
import { mergeExtensions } from "./extensions.ts";
import type { Model } from "./model.ts";
import { expect, ResultCode } from "./result-code.ts";

/** A device, and what it said of itself. */
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
  /** Files that it keeps a compilation in; none: it keeps none. */
  readonly numberOfCacheFiles: { readonly numModelCache: number; readonly numDataCache: number };
  /** Whether it knows an extension. */
  getExtensionSupport(extensionName: string): boolean;
  /** Resolves once the device is in a live state: not OFFLINE. */
  wait(): Promise<void>;
}

/** Devices, and what comes of them together. */
export interface DeviceRegistry {
  /** In the order given, the CPU last. */
  readonly devices: readonly RegisteredDevice[];
  readonly cpu: RegisteredDevice | undefined;
  /** Devices that are left out, and why. */
  readonly refused: readonly { readonly name: string; readonly reason: string }[];
  /** What the devices know, for `ModelOptions.extensions`; those that two devices describe differently are left out. */
  readonly extensions: readonly Extension[];
  getDeviceCount(): number;
  /** Throws BAD_DATA where there is no such index. */
  getDevice(index: number): RegisteredDevice;
  /** A compilation for all devices, with fallback to the CPU. `new Compilation(model, [device])` is for explicit ones. */
  createCompilation(model: Model, options?: Omit<CompilationOptions, "cpu">): Compilation;
}

/** How to register devices. */
export interface RegisterOptions {
  /** The device that takes every model: everything may fall back to it. It comes last. Default: none. */
  readonly cpu?: Device;
  /** Takes what is wrong with devices. Default: the console. */
  readonly log?: Logger;
  /** Waits some milliseconds, between two looks at a device's status. Default: the system's timer. */
  readonly sleep?: (milliseconds: number) => Promise<void>;
}

const featureLevels: Readonly<Record<HalVersion, number>> = { "1.0": 27, "1.1": 28, "1.2": 29, "1.3": 30 };

/** Asks devices for all that there is to know. Throws UNEXPECTED_NULL or BAD_DATA for a list with none, or one twice. */
export function registerDevices(devices: readonly Device[], options: RegisterOptions = {}): DeviceRegistry {
  const { cpu, log = defaultLogger, sleep = systemSleep } = options;
  expectDevices(devices, "registerDevices");
  const refused: { name: string; reason: string }[] = [];
  const registered: RegisteredDevice[] = [];
  const all = cpu === undefined ? devices : [...devices.filter((device) => device !== cpu), cpu];
  for (const device of all) {
    const known = ask(device, sleep);
    if (!("reason" in known)) registered.push(known);
    else {
      refused.push(known);
      log.error(`device ${known.name} is left out: ${known.reason}`);
    }
  }
  const { extensions, disabled } = mergeExtensions(registered);
  for (const [name, reason] of disabled) log.error(`extension ${name} is left out: ${reason}`);
  const registeredCpu = registered.find(({ device }) => device === cpu);
  return {
    devices: registered,
    cpu: registeredCpu,
    refused,
    extensions,
    getDeviceCount: () => registered.length,
    getDevice(index) {
      const count = registered.length;
      expect(
        index in registered,
        ResultCode.BAD_DATA,
        () => `getDevice: there is no device ${index}, there are ${count}`,
      );
      return registered[index];
    },
    createCompilation: (model, compilationOptions = {}) =>
      new Compilation(
        model,
        registered.map(({ device }) => device),
        { ...compilationOptions, ...(registeredCpu && { cpu: registeredCpu.device }) },
      ),
  };
}

function ask(
  device: Device,
  sleep: (milliseconds: number) => Promise<void>,
): RegisteredDevice | { readonly name: string; readonly reason: string } {
  const { name } = device;
  let problem: string | undefined;
  const sound = <Answer extends Outcome>(method: string, answer: Answer): Answer => {
    const { status, message } = answer;
    if (status !== ErrorStatus.NONE) problem ??= `${method}: ${message ?? `status ${status}`}`;
    return answer;
  };
  try {
    const { capabilities } = sound("getCapabilities", device.getCapabilities());
    const { version } = sound("getVersionString", device.getVersionString());
    const { type } = sound("getType", device.getType());
    const { extensions } = sound("getSupportedExtensions", device.getSupportedExtensions());
    const files = sound("getNumberOfCacheFilesNeeded", device.getNumberOfCacheFilesNeeded());
    const { numModelCache, numDataCache } = files;
    const tooMany = Math.max(numModelCache, numDataCache);
    if (tooMany > MAX_NUMBER_OF_CACHE_FILES) {
      problem ??= `it wants ${tooMany} cache files of one kind where ${MAX_NUMBER_OF_CACHE_FILES} are allowed`;
    }
    if (problem !== undefined) return { name, reason: problem };
    return {
      device,
      name,
      type,
      version,
      featureLevel: featureLevels[device.halVersion ?? "1.3"],
      capabilities,
      extensions,
      numberOfCacheFiles: { numModelCache, numDataCache },
      getExtensionSupport(extensionName) {
        expectGiven(extensionName, "getExtensionSupport", "extensionName");
        return extensions.some((extension) => extension.name === extensionName);
      },
      async wait() {
        while (device.getStatus() === DeviceStatus.OFFLINE) await sleep(10);
      },
    };
  } catch (error) {
    return { name, reason: `it threw: ${error instanceof Error ? error.message : error}` };
  }
}

function systemSleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
