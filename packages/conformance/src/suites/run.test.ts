import { asV1_1, liftDevice } from "@nnhal/driver-core/versions";
import { elementAt } from "@nnhal/operations";
import { type Device, ErrorStatus } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import type { CaseStart } from "../isolated.ts";
import type { CaseResult } from "../result.ts";
import { faultyDevice, referenceDevice } from "./faulty-device.test-helper.ts";
import {
  type DeviceSuiteOptions,
  describeDeviceSuite,
  deviceSuiteNames,
  isDeviceSuiteName,
  listDeviceCases,
  runDeviceSuites,
} from "./run.ts";

async function run(options: DeviceSuiteOptions, device = referenceDevice()): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  for await (const result of runDeviceSuites(await device, options)) results.push(result);
  return results;
}

const isFact = (name: string) => name.startsWith("device/facts: ");

describe("device suites", () => {
  it("have names and say what they are about, and each of their cases has a name of its own", () => {
    expect(deviceSuiteNames).toEqual([
      "device",
      "prepared-model",
      "memory",
      "caching",
      "burst",
      "fenced",
      "aidl",
      "qos",
    ]);
    for (const name of deviceSuiteNames) expect(describeDeviceSuite(name)).toMatch(/^[a-z]/);
    expect([isDeviceSuiteName("memory"), isDeviceSuiteName("vectors"), isDeviceSuiteName("toString")]).toEqual([
      true,
      false,
      false,
    ]);
    const names = listDeviceCases();
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-z-]+\/[a-z]+: /);
  });

  it("tell of each case that begins, and leave out those that are not wanted or were run before", async () => {
    const starts: CaseStart[] = [];
    const onStart = (start: CaseStart) => void starts.push(start);
    const all = await run({ filter: isFact, onStart });
    expect(all.map(({ name, subject }) => ({ name, subject }))).toEqual(starts);
    expect(starts.map(({ name }) => name)).toEqual(listDeviceCases().filter(isFact));
    expect(await run({ filter: isFact, skip: 3 })).toEqual(all.slice(3));
  });

  it("count what a HAL version has not got as unsupported", async () => {
    const results = await run({ suites: ["fenced"], version: "1.2" });
    expect(results).toHaveLength(listDeviceCases(["fenced"]).length);
    expect(new Set(results.map(({ verdict }) => verdict))).toEqual(new Set(["unsupported"]));
    expect(elementAt(results, 0).reason).toBe("of HAL 1.3, and the device is driven through HAL 1.2");
    expect(results.every(({ cause }) => cause?.kind === "halVersion")).toBe(true);
  });

  it("drive an older device through its own version, and through none that is newer", async () => {
    const older = async () => liftDevice("nnhal-old", asV1_1(await referenceDevice()));
    const results = await run({ filter: isFact }, older());
    const passed = results.filter(({ verdict }) => verdict === "passed").map(({ name }) => name);
    expect(passed).toContain("device/facts: getCapabilities_1_1 has performances above 0");
    expect(results.filter(({ verdict }) => verdict === "failed")).toEqual([]);
    expect(results.find(({ name }) => name.includes("getCapabilities_1_2"))?.verdict).toBe("unsupported");
    await expect(run({ version: "1.2" }, older())).rejects.toThrow(new RangeError("nnhal-old is of HAL 1.1, not 1.2"));
  });

  it("fail a case whose prepared models cannot be closed", async () => {
    const close = () => {
      throw new Error("stuck");
    };
    const device = faultyDevice({ preparedModel: () => ({ close }) });
    const result = elementAt(
      await run({ filter: (name) => name === listDeviceCases(["prepared-model"])[0] }, device),
      0,
    );
    expect(result).toMatchObject({ verdict: "failed" });
    expect(result.reason).toMatch(/^closing what the case made: PreparedModel\.close: threw Error: stuck/);
  });

  it("say that a case was lost if a call is not answered, and wait less in the cases that follow", async () => {
    const device = faultyDevice({ preparedModel: () => ({ execute: () => new Promise<never>(() => {}) }) });
    const cases = listDeviceCases(["prepared-model"]).slice(0, 4);
    const results = await run({ filter: (name) => cases.includes(name), callLimit: 400 }, device);
    const limits = results.map(({ reason }) => /no answer within (\d+) ms/.exec(reason ?? "")?.[1]);
    expect(limits).toEqual(["400", "200", "100", "100"]);
    expect(results.map(({ isLost }) => isLost)).toEqual([true, true, true, true]);
  });

  it("say of a case that fails with an answer that it was not lost", async () => {
    const device = faultyDevice({ preparedModel: () => ({ execute: () => Promise.reject(new Error("no")) }) });
    const [result] = await run({ filter: (name) => name === listDeviceCases(["prepared-model"])[0] }, device);
    expect(result?.verdict).toBe("failed");
    expect(result).not.toHaveProperty("isLost");
  });

  it("are unsupported, not failed, on a device that has nothing that it need not have", {
    timeout: 120_000,
  }, async () => {
    const right = await referenceDevice();
    const bare: Device = {
      name: right.name,
      getCapabilities: right.getCapabilities,
      getType: right.getType,
      getVersionString: right.getVersionString,
      getSupportedExtensions: right.getSupportedExtensions,
      getSupportedOperations: right.getSupportedOperations,
      getNumberOfCacheFilesNeeded: () => ({ status: ErrorStatus.NONE, numModelCache: 0, numDataCache: 0 }),
      getStatus: right.getStatus,
      async prepareModel(model, options) {
        const { preparedModel, ...outcome } = await right.prepareModel(model, options);
        const { execute, close } = preparedModel ?? {};
        return { ...outcome, preparedModel: execute && close ? { execute, close } : null };
      },
    };
    // These groups take long, and are about nothing that a device need not have.
    const isShort = (name: string) =>
      !/^(prepared-model\/(sizes|windows|leaks)|qos\/(lateness|starvation)): /.test(name);
    for (const version of [undefined, "1.2", "1.3"] as const) {
      const results = await run({ filter: isShort, ...(version && { version }) }, Promise.resolve(bare));
      expect(results.filter(({ verdict }) => verdict === "failed")).toEqual([]);
      const reasons = new Set(results.map(({ reason }) => reason));
      for (const need of ["bursts", "kept models", "other clients"]) expect(reasons).toContain(`no ${need}`);
      for (const need of ["device memory", "fenced executions"])
        expect(reasons.has(`no ${need}`)).toBe(version !== "1.2");
    }
  });
});
