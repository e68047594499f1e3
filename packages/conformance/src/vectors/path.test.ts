/** The execution paths on the reference device, watched: each goes the way it says. */

import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { referenceBackend } from "@nnhal/backend-reference";
import { type DeviceOptions, type OpenedDevice, openDevice } from "@nnhal/driver-core/device";
import { elementAt } from "@nnhal/operations";
import { addExample } from "@nnhal/test-kit/examples";
import { fakeDevice } from "@nnhal/test-kit/fake-device";
import { type Device, ErrorStatus, type PreparedModel, type PrepareResult } from "@nnhal/types";
import { describe, expect, it, vi } from "vitest";
import type { CaseResult } from "../result.ts";
import type { Example } from "./example.ts";
import type { ExecutionPath } from "./path.ts";
import { runVectors, type VectorsOptions } from "./run.ts";

async function referenceDevice(options: Partial<DeviceOptions> = {}): Promise<OpenedDevice> {
  const device = await openDevice({ backend: referenceBackend, ...options });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

/** The device, and the calls that its prepared models get. `change`: what its prepared models do otherwise. */
async function watchCalls(change: (model: PreparedModel) => Partial<PreparedModel> = () => ({})) {
  const calls: string[] = [];
  const device = await referenceDevice();
  const prepareModel: Device["prepareModel"] = async (model, options) => {
    return watch(await device.prepareModel(model, options));
  };
  const prepareModelFromCache: Device["prepareModelFromCache"] = async (cache, options) => {
    calls.push("prepareModelFromCache");
    return watch(await device.prepareModelFromCache(cache, options));
  };
  const watch = (result: PrepareResult): PrepareResult => {
    const { preparedModel } = result;
    if (preparedModel === null) return result;
    const { execute, executeFenced, createReusableExecution } = preparedModel;
    // The device knows its prepared models by identity, so that the methods are replaced in place.
    Object.assign(
      preparedModel,
      {
        execute(...[request, ...rest]: Parameters<typeof execute>) {
          calls.push(
            `execute on ${new Set(request.pools.map(({ kind }) => kind)).size} kind: ${elementAt(request.pools, 0).kind}`,
          );
          return execute(request, ...rest);
        },
        async executeFenced(...args: Parameters<NonNullable<typeof executeFenced>>) {
          calls.push(`executeFenced after ${args[1].map((fence) => fence?.state)}`);
          return executeFenced?.(...args);
        },
      },
      {
        async createReusableExecution(...args: Parameters<NonNullable<typeof createReusableExecution>>) {
          const result = await createReusableExecution?.(...args);
          if (!result?.execution) throw new Error("the reference sets up executions");
          const { execution } = result;
          calls.push("createReusableExecution");
          const run: typeof execution.execute = (times) => {
            calls.push("execute it");
            return execution.execute(times);
          };
          return { ...result, execution: { ...execution, execute: run } };
        },
      },
      change({ ...preparedModel }),
    );
    return result;
  };
  return { device: { ...device, prepareModel, prepareModelFromCache }, calls };
}

async function run(device: Device, example: Example, options: VectorsOptions): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  for await (const result of runVectors(device, [example], options)) results.push(result);
  return results;
}

describe("execution paths", () => {
  it.each<[ExecutionPath, readonly string[]]>([
    ["sync", ["execute on 1 kind: memory"]],
    ["async", ["execute on 1 kind: memory"]],
    ["fenced", ["executeFenced after ACTIVE"]],
    ["burst", ["execute on 1 kind: memory"]],
    ["device-memory", ["execute on 1 kind: token"]],
    ["cached", ["prepareModelFromCache", "execute on 1 kind: memory"]],
    ["reusable", ["createReusableExecution", "execute it", "execute it"]],
  ])("%s goes its own way", async (path, ways) => {
    const { device, calls } = await watchCalls();
    const results = await run(device, addExample(), { path });
    expect(results.map(({ verdict, reason }) => reason ?? verdict)).toEqual(["passed"]);
    expect(calls).toEqual(ways);
  });

  it("say what a device does not have", async () => {
    for (const path of ["fenced", "device-memory", "cached", "reusable"] as const) {
      const result = elementAt(await run(fakeDevice(), addExample(), { path }), 0);
      expect(result).toMatchObject({ verdict: "unsupported" });
      expect(result.reason).toContain(path === "cached" ? "the device keeps no" : "the device has no");
    }
    const [result] = await run(await referenceDevice({ caching: false }), addExample(), { path: "cached" });
    expect(result).toMatchObject({ verdict: "unsupported", reason: "the device keeps no prepared models" });
  });

  it("take it that a device chose not to keep a model, but nothing else", async () => {
    const { GENERAL_FAILURE, INVALID_ARGUMENT } = ErrorStatus;
    const load = async (status: ErrorStatus) => {
      const prepareModelFromCache = async () => ({ status, message: "no", preparedModel: null });
      return (await run({ ...(await referenceDevice()), prepareModelFromCache }, addExample(), { path: "cached" }))[0];
    };
    const reason = "the device did not keep the model: no";
    expect(await load(GENERAL_FAILURE)).toMatchObject({ verdict: "unsupported", reason });
    expect(await load(INVALID_ARGUMENT)).toMatchObject({ verdict: "failed" });
  });

  it("leave no files behind", async () => {
    const folder = mkdtempSync(join(tmpdir(), "nnhal-path-"));
    vi.stubEnv("TMPDIR", folder);
    try {
      await run(await referenceDevice(), addExample(), { path: "cached" });
      expect(readdirSync(folder)).toEqual([]);
    } finally {
      vi.unstubAllEnvs();
      rmSync(folder, { recursive: true });
    }
  });

  it("count examples that cannot be fenced as such", async () => {
    const results = await run(await referenceDevice(), addExample(), { path: "fenced", variants: true });
    expect(results.map(({ verdict }) => verdict)).toEqual(["passed", "unsupported"]);
    expect(elementAt(results, 1).reason).toContain("need to know the dimensions of all outputs");
  });

  it("fail with the status that the device gives", async () => {
    const status = ErrorStatus.GENERAL_FAILURE;
    const makeFailing = async () => ({
      status,
      message: "on fire",
      outputShapes: [],
      timing: { timeOnDevice: 0n, timeInDriver: 0n },
    });
    for (const path of ["sync", "device-memory"] as const) {
      const { device } = await watchCalls(() => ({ execute: makeFailing }));
      const result = elementAt(await run(device, addExample(), { path }), 0);
      expect(result.reason).toBe("execute: GENERAL_FAILURE: on fire");
    }
    const { device } = await watchCalls(() => ({
      executeFenced: async () => ({ status, message: "on fire", syncFence: null, callback: null }),
    }));
    const result = elementAt(await run(device, addExample(), { path: "fenced" }), 0);
    expect(result.reason).toBe("execute: GENERAL_FAILURE: on fire");
  });

  it("fail if the answer lacks shapes", async () => {
    const timing = { timeOnDevice: 0n, timeInDriver: 0n };
    const { device } = await watchCalls(() => ({
      execute: async () => ({ status: ErrorStatus.NONE, outputShapes: [], timing }),
    }));
    const result = elementAt(await run(device, addExample(), { path: "device-memory" }), 0);
    expect(result.reason).toBe("the answer has 0 output shapes, the model 1 outputs");
  });

  it("fail if fence and callback contradict each other", async () => {
    const timing = { timeOnDevice: 0n, timeInDriver: 0n };
    const info = { status: ErrorStatus.GENERAL_FAILURE, timingLaunched: timing, timingFenced: timing };
    const { device } = await watchCalls(() => ({
      executeFenced: async () => ({
        status: ErrorStatus.NONE,
        syncFence: null,
        callback: { getExecutionInfo: async () => info },
      }),
    }));
    const result = elementAt(await run(device, addExample(), { path: "fenced" }), 0);
    expect(result.reason).toContain("the fence is in state SIGNALED, but the callback says status 2");
  });
});
