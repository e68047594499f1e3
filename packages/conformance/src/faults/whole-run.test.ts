/**
 * With NNHAL_FAULTS=all: each fault against the whole default run, which must find it. It begins with the suites that are likely to find
 * it, since the order of suites changes nothing but the time. It takes some minutes. Otherwise one fault.
 */
import { createReferenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { liftDevice } from "@nnhal/driver-core/versions";
import { elementAt } from "@nnhal/operations";
import type { Device } from "@nnhal/types";
import type { AIDL1 } from "@nnhal/types/aidl";
import { describe, expect, it } from "vitest";
import { runArithmetic } from "../arithmetic/run.ts";
import { runGraphs } from "../graphs/run.ts";
import type { CaseResult } from "../result.ts";
import { aidlExecutionFaults } from "../suites/aidl/execution-faults.test-helper.ts";
import { faultyDriver } from "../suites/aidl/faulty-driver.test-helper.ts";
import { aidlObjectFaults } from "../suites/aidl/object-faults.test-helper.ts";
import { deviceFaults } from "../suites/device-faults.test-helper.ts";
import { executionFaults } from "../suites/execution-faults.test-helper.ts";
import { faultyDevice } from "../suites/faulty-device.test-helper.ts";
import { cacheFaults, memoryFaults } from "../suites/resource-faults.test-helper.ts";
import { reusableFaults } from "../suites/reusable-faults.test-helper.ts";
import { type DeviceSuiteOptions, runDeviceSuites } from "../suites/run.ts";
import { graphFaults } from "./graph-faults.test-helper.ts";
import { kernelFaults } from "./kernel-faults.test-helper.ts";
import { stateFaults } from "./state-faults.test-helper.ts";

type Suite = (device: Device) => AsyncIterable<CaseResult>;
type Suites = readonly Suite[];
type Row = readonly [name: string, open: () => Promise<Device>, suites: Suites];

/** The suites of the default run; those that are likely to find a fault come first. */
const ofDevices: Suite = runDeviceSuites;
const arithmetic: Suite = runArithmetic;
const graphs: Suite = runGraphs;

const rows = {
  kernels: kernelFaults.map(
    ({ operation, what, plant }): Row => [
      `${operation}: ${what}`,
      async () => {
        const device = await openDevice({ backend: createReferenceBackend({ definitionFor: plant() }) });
        if ("unavailable" in device) throw new Error(device.unavailable);
        return device;
      },
      // The same examples as in the whole suite, without those of other operations before them.
      [(device) => runArithmetic(device, { only: operation }), graphs, ofDevices, arithmetic],
    ],
  ),
  graphs: graphFaults.map(([what, fault]): Row => [what, () => faultyDevice(fault), [graphs, ofDevices, arithmetic]]),
  devices: [...deviceFaults, ...executionFaults, ...reusableFaults, ...memoryFaults, ...cacheFaults].map(
    ([what, fault]): Row => [what, () => faultyDevice(fault), [ofDevices, arithmetic, graphs]],
  ),
  aidl: [...aidlObjectFaults, ...aidlExecutionFaults].map(([what, fault]): Row => {
    let driver: AIDL1.IDevice;
    const open = async () => {
      driver = await faultyDriver(fault);
      return liftDevice("nnhal-lifted", driver);
    };
    const ofDriver = (options: DeviceSuiteOptions): Suite => {
      return (device) => runDeviceSuites(device, { aidl: driver, callLimit: 1000, ...options });
    };
    return [what, open, [ofDriver({ suites: ["aidl"] }), ofDriver({}), arithmetic, graphs]];
  }),
  state: stateFaults.map(
    ([what, fault, check]): Row => [
      what,
      () => faultyDevice(fault),
      check.startsWith("arithmetic/") ? [arithmetic, graphs, ofDevices] : [ofDevices, arithmetic, graphs],
    ],
  ),
};

describe("the default run finds", () => {
  const chosen =
    process.env.NNHAL_FAULTS === "all"
      ? Object.values(rows).flat()
      : [elementAt(rows.devices, 0), elementAt(rows.aidl, 0)];
  it.each(chosen)("%s", { timeout: 600_000 }, async (_name, open, suites) => {
    const device = await open();
    for (const suite of suites) {
      for await (const { verdict } of suite(device)) if (verdict === "failed") return;
    }
    expect.fail("nothing failed");
  });
});
