import { DEVICE_TYPE_UNKNOWN, type Device, DeviceStatus, DeviceType, ErrorStatus, type Extension } from "@nnhal/types";
import { createLogger } from "@nnhal/utils";
import { beforeAll, describe, expect, it } from "vitest";
import { allowEveryApplication, parseAllowList } from "./allow-list.ts";
import { registerDevices } from "./devices.ts";
import { code } from "./fakes.test-helper.ts";
import { addModel, openReference } from "./models.test-helper.ts";

let reference: Device;
beforeAll(async () => {
  reference = await openReference();
});

const ok = { status: ErrorStatus.NONE } as const;
const failed = { status: ErrorStatus.GENERAL_FAILURE, message: "broken" } as const;
const alter = (name: string, change: Partial<Device>): Device => ({ ...reference, name, ...change });
const extension = (byteSize: number): Extension => ({
  name: "com.example.one",
  operandTypes: [{ type: 0, isTensor: true, byteSize }],
});
const knowing = (name: string, ...extensions: readonly Extension[]) =>
  alter(name, { getSupportedExtensions: () => ({ ...ok, extensions }) });

/** A logger, and its messages. */
function listen() {
  const errors: string[] = [];
  const warnings: string[] = [];
  const log = createLogger({
    sink: ({ severity, message }) => (severity === "error" ? errors : warnings).push(message),
    properties: () => "",
  });
  log.initVLogMask();
  return { errors, warnings, log };
}

describe("registerDevices", () => {
  it("asks each device once", () => {
    let asked = 0;
    const counting = alter("counting", {
      getCapabilities() {
        asked++;
        return reference.getCapabilities();
      },
    });
    const device = registerDevices([counting]).getDevice(0);
    expect([device.capabilities, device.capabilities]).toEqual(Array(2).fill(reference.getCapabilities().capabilities));
    expect(asked).toBe(1);
    expect(device).toMatchObject({
      device: counting,
      name: "counting",
      type: DeviceType.CPU,
      version: reference.getVersionString().version,
      featureLevel: 1_000_008,
      extensions: [],
    });
    expect(device.numberOfCacheFiles).toEqual({
      numModelCache: reference.getNumberOfCacheFilesNeeded().numModelCache,
      numDataCache: reference.getNumberOfCacheFilesNeeded().numDataCache,
    });
  });

  it.each([
    ["1.0", 27],
    ["1.1", 28],
    ["1.2", 29],
    ["1.3", 30],
  ] as const)("a device of HAL %s has feature level %i", (halVersion, level) => {
    const type = halVersion < "1.2" ? DEVICE_TYPE_UNKNOWN : DeviceType.GPU;
    const old = alter("old", { halVersion, getType: () => ({ ...ok, type }) });
    expect(registerDevices([old]).getDevice(0)).toMatchObject({ featureLevel: level, type });
  });

  it("counts and returns devices, the CPU last", () => {
    const [first, second] = [alter("first", {}), alter("second", {})];
    const registry = registerDevices([first, reference, second], { cpu: reference });
    expect(registry.devices.map(({ name }) => name)).toEqual(["first", "second", reference.name]);
    expect(registry.cpu?.device).toBe(reference);
    expect(registry.getDeviceCount()).toBe(3);
    expect(registry.getDevice(1).device).toBe(second);
    for (const index of [3, -1, 0.5]) expect(() => registry.getDevice(index)).toThrow(code("BAD_DATA"));
  });

  it.each([
    ["getCapabilities", { getCapabilities: () => ({ ...reference.getCapabilities(), ...failed }) }],
    ["getVersionString", { getVersionString: () => ({ ...failed, version: "" }) }],
    ["getType", { getType: () => ({ ...failed, type: DeviceType.CPU }) }],
    ["getSupportedExtensions", { getSupportedExtensions: () => ({ ...failed, extensions: [] }) }],
    [
      "getNumberOfCacheFilesNeeded",
      { getNumberOfCacheFilesNeeded: () => ({ ...failed, numModelCache: 0, numDataCache: 0 }) },
    ],
  ] as const)("leaves a device out whose %s fails, and says so", (method, change: Partial<Device>) => {
    const { errors, log } = listen();
    const registry = registerDevices([alter("broken", change), reference], { log });
    expect(registry.devices.map(({ name }) => name)).toEqual([reference.name]);
    expect(registry.refused).toEqual([{ name: "broken", reason: `${method}: broken` }]);
    expect(errors).toEqual([`device broken is left out: ${method}: broken`]);
  });

  it("leaves out a device that throws, and one that needs too many cache files", () => {
    const { log } = listen();
    const throwing = alter("throwing", {
      getType() {
        throw new Error("no such driver");
      },
    });
    const files = (numModelCache: number, numDataCache: number) =>
      alter(`${numModelCache} ${numDataCache}`, {
        getNumberOfCacheFilesNeeded: () => ({ ...ok, numModelCache, numDataCache }),
      });
    const registry = registerDevices([throwing, files(33, 0), files(0, 33), files(32, 32)], { log });
    expect(registry.devices.map(({ name }) => name)).toEqual(["32 32"]);
    expect(registry.refused.map(({ reason }) => reason)).toEqual([
      "getType threw: no such driver",
      "getNumberOfCacheFilesNeeded answered 33 model cache files where at most 32 are allowed",
      "getNumberOfCacheFilesNeeded answered 33 data cache files where at most 32 are allowed",
    ]);
  });

  it("merges extensions, except those that devices describe differently", () => {
    const { warnings, log } = listen();
    const options = { log, allowList: allowEveryApplication };
    const same = registerDevices([knowing("a", extension(4)), knowing("b", extension(4))], options);
    expect(same.extensions).toEqual([extension(4)]);
    expect([...same.disabledExtensions]).toEqual([]);
    expect(warnings).toEqual([]);
    const different = registerDevices([knowing("a", extension(4)), knowing("b", extension(8))], options);
    expect(different.extensions).toEqual([]);
    const reason = "a and b describe its operand types differently";
    expect([...different.disabledExtensions]).toEqual([["com.example.one", reason]]);
    expect(warnings).toEqual([`extension com.example.one is left out: ${reason}`]);
  });

  it("leaves extensions out if the application is not on the allow-list", () => {
    const { warnings, log } = listen();
    const allowList = parseAllowList("com.example.app", { source: "list" });
    const devices = [knowing("a", extension(4))];
    const application = { packageName: "com.example.app" };
    expect(registerDevices(devices, { log, allowList, application }).extensions).toEqual([extension(4)]);
    const refused = registerDevices(devices, { log, allowList, application: { packageName: "com.example.other" } });
    expect(refused.extensions).toEqual([]);
    const reason = "list does not name package com.example.other";
    expect([...refused.disabledExtensions]).toEqual([["com.example.one", reason]]);
    expect(warnings).toEqual([`extension com.example.one is left out: ${reason}`]);
    expect(refused.getDevice(0).getExtensionSupport("com.example.one")).toBe(true);
  });

  it("refuses missing arguments, and a device listed twice", () => {
    const missing = JSON.parse("null");
    expect(() => registerDevices(missing)).toThrow(code("UNEXPECTED_NULL"));
    expect(() => registerDevices([missing])).toThrow(code("UNEXPECTED_NULL"));
    expect(() => registerDevices([reference, reference])).toThrow(code("BAD_DATA"));
  });
});

describe("a registered device", () => {
  it("reports whether it supports an extension", () => {
    const device = registerDevices([knowing("a", extension(4))], { allowList: allowEveryApplication }).getDevice(0);
    expect(device.getExtensionSupport("com.example.one")).toBe(true);
    expect(device.getExtensionSupport("com.example.two")).toBe(false);
    expect(device.getExtensionSupport("")).toBe(false);
    expect(() => device.getExtensionSupport(JSON.parse("null"))).toThrow(code("UNEXPECTED_NULL"));
  });

  it("is awaited until it is not offline", async () => {
    const statuses = [DeviceStatus.OFFLINE, DeviceStatus.OFFLINE, DeviceStatus.BUSY];
    const coming = alter("coming", { getStatus: () => statuses.shift() ?? DeviceStatus.UNKNOWN });
    let slept = 0;
    const sleep = async () => {
      slept++;
    };
    const device = registerDevices([coming], { sleep }).getDevice(0);
    await device.wait();
    expect(slept).toBe(2);
    await device.wait();
    expect(slept).toBe(2);
  });
});

describe("a compilation for all devices", () => {
  it("falls back to the CPU", async () => {
    const broken = alter("broken", {
      prepareModel: async () => ({ ...failed, preparedModel: null }),
    });
    const told: string[] = [];
    const registry = registerDevices([broken], { cpu: reference });
    const compilation = registry.createCompilation(addModel(), { onFallback: (message) => told.push(message) });
    await compilation.finish();
    expect(compilation.deviceNames).toEqual([reference.name]);
    expect(compilation.isExplicit).toBe(false);
  });

  it("has no fallback if there is no CPU", async () => {
    const compilation = registerDevices([reference]).createCompilation(addModel());
    await compilation.finish();
    expect(compilation.isExplicit).toBe(true);
  });
});
