import { asV1_1, liftDevice } from "@nnhal/driver-core/versions";
import { describe, expect, it } from "vitest";
import type { CaseStart } from "../isolated.ts";
import type { CaseResult } from "../result.ts";
import { faultyDevice, referenceDevice } from "./faulty-device.test-helper.ts";
import {
  type DeviceSuiteOptions,
  describeDeviceSuite,
  deviceSuiteNames,
  isDeviceSuiteName,
  isOfNewerVersion,
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
    expect(deviceSuiteNames).toEqual(["device", "prepared-model", "memory", "caching", "burst", "fenced", "qos"]);
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
    expect(results[0].reason).toBe("of HAL 1.3, and the device is driven through HAL 1.2");
    expect(results.every(({ reason = "" }) => isOfNewerVersion(reason))).toBe(true);
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
    const [result] = await run({ filter: (name) => name === listDeviceCases(["prepared-model"])[0] }, device);
    expect(result).toMatchObject({ verdict: "failed" });
    expect(result.reason).toMatch(/^closing what the case made: threw Error: stuck/);
  });

  it("are unsupported, not failed, on a device that has nothing that it need not have", async () => {
    const {
      allocate: _,
      prepareModelFromCache: __,
      connect: ___,
      ...rest
    } = { connect: null, ...(await referenceDevice()) };
    const bare = faultyDevice({
      device: () => ({ getNumberOfCacheFilesNeeded: () => ({ status: 0, numModelCache: 0, numDataCache: 0 }) }),
    });
    const { getNumberOfCacheFilesNeeded } = await bare;
    const device = {
      ...rest,
      getNumberOfCacheFilesNeeded,
      prepareModel: async (...args: Parameters<typeof rest.prepareModel>) => {
        const result = await rest.prepareModel(...args);
        if (result.preparedModel === null) return result;
        const { execute, close } = result.preparedModel;
        return { ...result, preparedModel: { execute, close } };
      },
    };
    for (const version of [undefined, "1.2", "1.3"] as const) {
      const results = await run({ ...(version && { version }) }, Promise.resolve(device));
      expect(results.filter(({ verdict }) => verdict === "failed")).toEqual([]);
      const reasons = new Set(
        results.map(({ reason }) => reason).filter((reason) => !isOfNewerVersion(reason ?? "of")),
      );
      for (const need of ["no bursts", "no kept models"]) expect(reasons).toContain(need);
    }
  });
});
