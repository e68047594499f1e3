import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { fromSource } from "@nnhal/test-kit/from-source";
import { type Device, ErrorStatus, type PrepareResult } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import type { CaseResult } from "../result.ts";
import type { StressJob } from "./job.ts";
import { runStress, type StressOptions, stressSize } from "./run.ts";
import { stressTargets } from "./targets.ts";
import { doStressJob } from "./work.ts";

const program = fileURLToPath(new URL("stress.test-process.ts", import.meta.url));

/** Starts processes; only those that do the target's work misbehave, not the one that shows that the driver is alive. */
function starter(fault: string) {
  return (job: StressJob) =>
    fork(program, [JSON.stringify(job)], {
      execArgv: [...fromSource],
      env: { ...process.env, NNHAL_TEST_FAULT: job.work === "alive" ? "none" : fault },
    });
}

async function run(filter: string, fault = "none", more: Partial<StressOptions> = {}): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  const options = { start: starter(fault), filter, duration: 300, margin: 30_000, ...more };
  for await (const result of runStress(options)) results.push(result);
  return results;
}

async function reference(): Promise<Device> {
  const device = await openDevice({ backend: referenceBackend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

const job: StressJob = { work: "infer", models: "common", lanes: 2, milliseconds: 50, seed: 1 };

describe("runStress", { timeout: 120_000 }, () => {
  it("reports processes that succeed, and those that are killed as CRASH", async () => {
    const [killed] = await run("client-early");
    expect(killed).toMatchObject({ name: "crash/client-early-termination", verdict: "passed" });
    expect(killed?.measured).toMatch(/^1 CRASH \(killed\)/);
  });

  it.each([
    ["ends the process", /^CRASH: the process ended with exit code 3$/],
    ["blocks", /^HANG: the process has not ended 2000 ms after its 300 ms$/],
  ])("names a device that %s", async (fault, reason) => {
    const [result] = await run("crash/parallel-inference", fault, { margin: 2000 });
    expect([result?.verdict, result?.reason?.split("\n")[0]]).toEqual(["failed", expect.stringMatching(reason)]);
  });

  it("runs in this process too, if the device is here", async () => {
    const [right] = await run("in-process", "none", { device: await reference() });
    expect(right).toMatchObject({ name: "crash/parallel-inference-in-process", verdict: "passed" });
    expect(right?.measured).toMatch(/^1 SUCCESS; [1-9]\d* executions of [1-9]\d* prepared models$/);
    const refusal: PrepareResult = { status: ErrorStatus.GENERAL_FAILURE, message: "broken", preparedModel: null };
    const wrong: Device = { ...(await reference()), prepareModel: async () => refusal };
    const [failed] = await run("in-process", "none", { device: wrong, duration: 10 });
    expect(failed?.reason).toMatch(/^FAILURE: random\/ADD\/\d: prepareModel: GENERAL_FAILURE: broken$/);
  });

  it("selects targets by a text", () => {
    expect(stressSize()).toBe(stressTargets.length);
    expect([stressSize("Random"), stressSize("crash/"), stressSize("nothing")]).toEqual([2, stressTargets.length, 0]);
  });
});

describe("a job", () => {
  it.each(["infer", "load", "alive", "grow"] as const)("%s works until its time is over", async (work) => {
    let now = 0;
    const tally = await doStressJob(await reference(), { ...job, work }, () => now++);
    expect(tally.prepared).toBeGreaterThan(0);
    expect(tally.executions > 0).toBe(work !== "load");
    expect("growth" in tally).toBe(work === "grow");
  });

  it("runs random models of all operations", async () => {
    let now = 0;
    const tally = await doStressJob(await reference(), { ...job, models: "random", milliseconds: 500 }, () => now++);
    expect(tally.prepared).toBeGreaterThan(10);
  });

  it("fails with the model and the reason if results are wrong, or there are no models", async () => {
    const device = await reference();
    const wrong: Device = {
      ...device,
      async prepareModel(model, options) {
        const result = await device.prepareModel(model, options);
        const { preparedModel } = result;
        if (preparedModel === null) return result;
        return {
          ...result,
          preparedModel: {
            close: () => preparedModel.close(),
            // All outputs stay as they were.
            execute: async (request) => ({
              status: 0,
              outputShapes: request.outputs.map(() => ({ dimensions: [], isSufficient: true })),
              timing: { timeOnDevice: 0n, timeInDriver: 0n },
            }),
          },
        };
      },
    };
    await expect(doStressJob(wrong, job)).rejects.toThrow(/^random\/ADD\/0: ADD output 0: expected shape/);
    const none: Device = {
      ...device,
      getSupportedOperations: () => ({ status: 0, supported: [false], reasons: ["no"] }),
    };
    await expect(doStressJob(none, job)).rejects.toThrow("the device supports none of ADD");
    await expect(doStressJob(none, { ...job, models: "random" })).rejects.toThrow("none of the random models");
  });
});
