/**
 * Devices of every HAL version, computed with in every way (as Android's TestExecution does).
 */
import { asV1_0, asV1_1, asV1_2, asV1_3, liftDevice } from "@nnhal/driver-core/versions";
import { type Device, ErrorStatus, TIMING_NOT_MEASURED } from "@nnhal/types";
import { beforeAll, describe, expect, it } from "vitest";
import { Burst } from "./burst.ts";
import type { Compilation } from "./compilation.ts";
import { registerDevices } from "./devices.ts";
import { Execution } from "./execution.ts";
import { code, withPrepared } from "./fakes.test-helper.ts";
import { compile, float32, openReference, operationModel } from "./models.test-helper.ts";

let reference: Device;
beforeAll(async () => {
  reference = await openReference();
});

const faces = { "1.0": asV1_0, "1.1": asV1_1, "1.2": asV1_2, "1.3": asV1_3 } as const;
const versions = ["1.0", "1.1", "1.2", "1.3"] as const;

const ways = {
  compute: (execution: Execution) => execution.compute(),
  startCompute: (execution: Execution) => execution.startCompute().wait(),
  burstCompute: async (execution: Execution, compilation: Compilation) => {
    using burst = await Burst.create(compilation);
    await execution.burstCompute(burst);
  },
  startComputeWithDependencies: async (execution: Execution) =>
    (await execution.startComputeWithDependencies([])).wait(),
} as const;
const wayNames = ["compute", "startCompute", "burstCompute", "startComputeWithDependencies"] as const;
const cases = versions.flatMap((version) => wayNames.map((way) => [version, way] as const));

const lift = (version: keyof typeof faces, device: Device) => liftDevice(`old-${version}`, faces[version](device));

async function ready(device: Device) {
  const compilation = await compile(operationModel("FLOOR", [float32(2)], [], [float32(2)]), [device]);
  const execution = new Execution(compilation);
  const output = new Float32Array(2);
  execution.setInput(0, Float32Array.of(1.5, -1.5));
  execution.setOutput(0, output);
  return { compilation, execution, output };
}

describe.each(cases)("a device of HAL %s, by %s", (version, way) => {
  it("computes", async () => {
    const { compilation, execution, output } = await ready(lift(version, reference));
    await ways[way](execution, compilation);
    expect([...output]).toEqual([1, -2]);
    expect(execution.getOutputOperandDimensions(0)).toEqual([2]);
  });

  it("reports durations since HAL 1.2", async () => {
    const { compilation, execution } = await ready(lift(version, reference));
    execution.setMeasureTiming(true);
    await ways[way](execution, compilation);
    const isTold = version >= "1.2";
    expect(execution.getDuration("inDriver") !== undefined).toBe(isTold);
    expect(execution.getDuration("fencedInDriver") !== undefined).toBe(isTold);
  });

  it.each([
    ["DEVICE_UNAVAILABLE", "UNAVAILABLE_DEVICE"],
    ["GENERAL_FAILURE", "OP_FAILED"],
    ["INVALID_ARGUMENT", "BAD_DATA"],
  ] as const)("passes on %s as %s", async (status, expected) => {
    const timing = { timeOnDevice: TIMING_NOT_MEASURED, timeInDriver: TIMING_NOT_MEASURED };
    const failed = { status: ErrorStatus[status], message: "no" };
    const failing = withPrepared(
      reference,
      () => ({
        execute: async () => ({ ...failed, outputShapes: [], timing }),
        executeFenced: async () => ({ ...failed, syncFence: null, callback: null }),
      }),
      "configureExecutionBurst",
    );
    const { compilation, execution } = await ready(lift(version, failing));
    await expect(ways[way](execution, compilation)).rejects.toThrow(code(expected));
    expect(() => execution.getOutputOperandRank(0)).toThrow(code("BAD_STATE"));
  });
});

describe("registerDevices", () => {
  it.each([
    ["1.0", 27, "UNKNOWN"],
    ["1.1", 28, "UNKNOWN"],
    ["1.2", 29, "nnhal-reference-1"],
    ["1.3", 30, "nnhal-reference-1"],
  ] as const)("knows a device of HAL %s by its feature level", (version, featureLevel, text) => {
    const device = registerDevices([lift(version, reference)]).getDevice(0);
    expect(device).toMatchObject({ featureLevel, version: text, name: `old-${version}` });
    expect(device.type === 0).toBe(version < "1.2");
  });
});
