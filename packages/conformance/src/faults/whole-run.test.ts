/**
 * With NNHAL_FAULTS=all: each fault against the whole default run, which must find it within two minutes. It takes about an hour. Otherwise
 * one of them, which an early check finds.
 */
import { createReferenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { elementAt } from "@nnhal/operations";
import type { Device } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { runArithmetic } from "../arithmetic/run.ts";
import { runGraphs } from "../graphs/run.ts";
import { deviceFaults } from "../suites/device-faults.test-helper.ts";
import { executionFaults } from "../suites/execution-faults.test-helper.ts";
import { faultyDevice } from "../suites/faulty-device.test-helper.ts";
import { cacheFaults, memoryFaults } from "../suites/resource-faults.test-helper.ts";
import { runDeviceSuites } from "../suites/run.ts";
import { graphFaults } from "./graph-faults.test-helper.ts";
import { kernelFaults } from "./kernel-faults.test-helper.ts";
import { stateFaults } from "./state-faults.test-helper.ts";

const deviceRows = [
  ...graphFaults,
  ...deviceFaults,
  ...executionFaults,
  ...memoryFaults,
  ...cacheFaults,
  ...stateFaults,
];
const all: (readonly [name: string, open: () => Promise<Device>])[] = [
  ...kernelFaults.map(
    ({ operation, what, plant }) =>
      [
        `${operation}: ${what}`,
        async () => {
          const device = await openDevice({ backend: createReferenceBackend({ definitionFor: plant() }) });
          if ("unavailable" in device) throw new Error(device.unavailable);
          return device;
        },
      ] as const,
  ),
  ...deviceRows.map(([what, fault]) => [what, () => faultyDevice(fault)] as const),
];

async function* defaultRun(device: Device) {
  yield* runDeviceSuites(device);
  yield* runArithmetic(device);
  yield* runGraphs(device);
}

describe("the default run finds", () => {
  const chosen = process.env.NNHAL_FAULTS === "all" ? all : [elementAt(all, kernelFaults.length + graphFaults.length)];
  it.each(chosen)("%s", { timeout: 120_000 }, async (_name, open) => {
    for await (const { verdict } of defaultRun(await open())) if (verdict === "failed") return;
    expect.fail("nothing failed");
  });
});
