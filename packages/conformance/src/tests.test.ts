import { fakeDevice } from "@nnhal/test-kit/fake-device";
import { fromSource } from "@nnhal/test-kit/from-source";
import type { Device } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { referenceDevice } from "./suites/faulty-device.test-helper.ts";
import { deviceSuiteNames } from "./suites/run.ts";
import { type ConformanceTestsOptions, defineConformanceTests } from "./tests.ts";

/** The tests that are defined, by name; each gives the message that it fails with. */
function definedTests(open: Parameters<typeof defineConformanceTests>[1], options: ConformanceTestsOptions) {
  const tests = new Map<string, () => Promise<string | undefined>>();
  defineConformanceTests(
    (name, run) => {
      tests.set(name, () => run().then(() => undefined, String));
    },
    open,
    options,
  );
  return tests;
}

describe("defineConformanceTests", () => {
  it("defines a test for each suite, as it is and through each version", () => {
    const tests = definedTests(referenceDevice, { suites: ["device", "memory"], versions: ["1.0", "1.3"] });
    expect([...tests.keys()]).toEqual([
      "conformance: device",
      "conformance: memory",
      "conformance: device through HAL 1.0",
      "conformance: memory through HAL 1.0",
      "conformance: device through HAL 1.3",
      "conformance: memory through HAL 1.3",
    ]);
  });

  it("defines one for the arithmetic and one for the graphs of the device as it is", () => {
    const tests = definedTests(referenceDevice, { suites: ["qos", "arithmetic", "graphs"], versions: ["1.0"] });
    expect([...tests.keys()]).toEqual([
      "conformance: qos",
      "conformance: arithmetic",
      "conformance: graphs",
      "conformance: qos through HAL 1.0",
    ]);
  });

  it("runs a device that is given as a module in a process of its own", { timeout: 60_000 }, async () => {
    const { execArgv } = process;
    process.execArgv = [...execArgv, ...fromSource];
    try {
      const module = new URL("./module/misbehaving.test-module.ts", import.meta.url);
      const tests = definedTests(module, { suites: ["fenced"], versions: ["1.0"] });
      for (const run of tests.values()) expect(await run()).toBeUndefined();
      const gone = definedTests(new URL("./gone.ts", import.meta.url), { suites: ["fenced"], versions: [] });
      expect(await gone.get("conformance: fenced")?.()).toMatch(/gone\.ts/);
    } finally {
      process.execArgv = execArgv;
    }
  });

  it("opens the device once, and passes for a right device; a case of a newer version does not fail it", async () => {
    let opened = 0;
    const open = (): Promise<Device> => {
      opened++;
      return referenceDevice();
    };
    const tests = definedTests(open, { suites: ["burst"], versions: ["1.0", "1.2"] });
    for (const run of tests.values()) expect(await run()).toBeUndefined();
    expect(opened).toBe(1);
  });

  it("fails with the names and reasons of the cases that do", async () => {
    const tests = definedTests(() => ({ ...fakeDevice(), name: "fake" }), { suites: ["device"], versions: [] });
    const message = await tests.get("conformance: device")?.();
    expect(message).toMatch(
      /^Error: \d+ of \d+ cases failed\ndevice\/facts: the name has one hyphen, inside\n {4}the name "fake"/,
    );
  });

  it("fails if something is unsupported that is not written down", async () => {
    const { allocate: _, ...without } = await referenceDevice();
    const open = () => ({ ...without });
    const undeclared = definedTests(open, { suites: ["memory"], versions: [] }).get("conformance: memory");
    expect(await undeclared?.()).toBe("Error: unsupported, and not in `lacks`: no device memory");
    const lacks = ["device memory"] as const;
    const declared = definedTests(open, { suites: ["memory"], versions: [], lacks }).get("conformance: memory");
    expect(declared).toBeDefined();
    expect(await declared?.()).toBeUndefined();
  });

  describe("an entry of `lacks`", { timeout: 120_000 }, () => {
    const title = "conformance: the device lacks what `lacks` has";
    const suites = deviceSuiteNames;
    const lacks = ["device memory", "unsupported operations"] as const;
    const open = async () => {
      const { allocate: _, ...without } = await referenceDevice();
      return without;
    };
    /** The device, and how often a suite has asked for its type. */
    const countedDevice = () => {
      let calls = 0;
      const makeCounting = async () => {
        const device = await open();
        return {
          ...device,
          getType() {
            calls++;
            return device.getType();
          },
        };
      };
      return { counting: makeCounting, calls: () => calls };
    };

    it("that the device has fails a test of its own, by its name, without running a suite again", async () => {
      const { counting, calls } = countedDevice();
      const tests = definedTests(counting, { suites, versions: [], lacks: [...lacks, "TILE", "TENSOR_FLOAT16"] });
      expect([...tests.keys()].at(-1)).toBe(title);
      for (const [name, run] of tests) if (name !== title) expect(await run(), name).toBeUndefined();
      const before = calls();
      expect(before).toBeGreaterThan(0);
      expect(await tests.get(title)?.()).toBe(
        'Error: `lacks` has "TILE", but no case lacked it: remove it from the list\n' +
          '`lacks` has "TENSOR_FLOAT16", but no case lacked it: remove it from the list',
      );
      expect(calls()).toBe(before);
    });

    it("that a suite has found lacking needs no further suite, as where a filter of names chose one", async () => {
      const { counting, calls } = countedDevice();
      const tests = definedTests(counting, { suites, lacks });
      expect(await tests.get("conformance: memory")?.()).toBeUndefined();
      expect(await tests.get("conformance: device")?.()).toBeUndefined();
      const before = calls();
      expect(await tests.get(title)?.()).toBeUndefined();
      expect(calls()).toBe(before);
    });

    it("is not judged by some suites alone", () => {
      const tests = definedTests(open, { suites: suites.slice(1), versions: [], lacks });
      expect([...tests.keys()]).not.toContain(title);
      expect([...definedTests(open, { suites, versions: [] }).keys()]).not.toContain(title);
    });
  });

  it("fails if the device is not available", async () => {
    const run = definedTests(() => ({ unavailable: "there is no such engine" }), {}).get("conformance: device");
    expect(await run?.()).toBe("Error: the device is not available: there is no such engine");
  });
});
