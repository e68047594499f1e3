import { ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { fromSource } from "@nnhal/test-kit/from-source";
import { writeTflite } from "@nnhal/tflite";
import { type Device, ErrorStatus, type PrepareResult } from "@nnhal/types";
import { afterAll, describe, expect, it } from "vitest";
import type { CaseResult } from "../result.ts";
import type { StressJob, StressTally } from "./job.ts";
import { runStress, type StressOptions, stressSize } from "./run.ts";
import { stressTargets } from "./targets.ts";
import { doStressJob } from "./work.ts";

const program = fileURLToPath(new URL("stress.test-process.ts", import.meta.url));

/** Starts processes; only those that do the target's work misbehave, not the one that shows that the driver is alive. */
function starter(fault: string) {
  return (job: StressJob) =>
    fork(program, [JSON.stringify(job), job.work === "alive" ? "none" : fault], { execArgv: [...fromSource] });
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

const idle: StressTally = { executions: 0, prepared: 0, mean: 0, loop: 0 };

/** A process that reports the outcome of its job at once. */
function pretend(said: StressTally | string): ChildProcess {
  const child = new ChildProcess();
  child.kill = () => true;
  queueMicrotask(() => {
    child.emit("message", { kind: "ready" });
    child.emit(
      "message",
      typeof said === "string" ? { kind: "failure", reason: said } : { kind: "success", tally: said },
    );
  });
  return child;
}

const job: StressJob = { work: "infer", models: "common", lanes: 2, milliseconds: 50, seed: 1 };

describe("runStress", { timeout: 120_000 }, () => {
  it("reports processes that succeed, and those that are killed as CRASH", async () => {
    const [killed] = await run("client-early");
    expect(killed).toMatchObject({ name: "crash/client-early-termination", verdict: "passed" });
    expect(killed?.measured).toMatch(/^1 CRASH \(killed\)/);
  });

  // Two of the four wait for processes that do nothing.
  it.concurrent.each([
    ["ends the process", /^CRASH: the process ended with exit code 3$/],
    ["blocks", /^HANG: the process has not ended 2000 ms after its 300 ms$/],
    ["never answers", /^HANG: the process has not ended 2000 ms after its 300 ms$/],
    ["throws", /^FAILURE: .*GENERAL_FAILURE|^FAILURE: it throws$/],
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

  it.each([
    ["no slower", [4, 1], [4, 1], undefined],
    ["slower by what is allowed", [4, 1], [6, 1], undefined],
    [
      "slower than that",
      [4, 1],
      [6.1, 1],
      "executions take 6.10 ms while models are prepared and 4.00 ms alone, and a loop of the process 1.00 and 1.00 ms: 52 % more than the loop, expected at most 50 %",
    ],
    ["on a machine that is as much slower", [4, 1], [12, 2], undefined],
    ["on a machine that is less slower", [4, 1], [13, 2], expect.stringContaining("63 % more than the loop")],
    ["on a machine that is faster", [4, 2], [5, 1], undefined],
  ])("judges executions beside preparing: %s", async (_what, alone, beside, reason) => {
    let inferences = 0;
    const start = ({ work }: StressJob) => {
      const [mean = 0, loop = 0] = work === "infer" ? (inferences++ % 2 === 0 ? alone : beside) : [];
      return pretend({ ...idle, mean, loop });
    };
    const [result] = await run("degradation", "none", { start });
    expect(inferences).toBe(reason === undefined ? 2 : 6);
    expect(result?.reason).toEqual(reason);
    expect(result?.verdict).toBe(reason === undefined ? "passed" : "failed");
  });

  it.each([
    [32, "passed"],
    [32.1, "failed"],
  ])("judges a process that has grown by %d MiB", async (mebibytes, verdict) => {
    const start = () => pretend({ ...idle, growth: mebibytes * 2 ** 20 });
    const [result] = await run("growth", "none", { start });
    expect(result).toMatchObject({ verdict });
    expect(result?.measured).toContain(`growth ${mebibytes.toFixed(1)} MiB`);
    if (verdict === "failed")
      expect(result?.reason).toBe("growth of the process: expected at most 32.0 MiB, got 32.1 MiB");
  });

  it("names what a killed process should have been, and a driver that is not alive beside it", async () => {
    const start = (job: StressJob) => (job.work === "alive" ? pretend("it is gone") : pretend(idle));
    const [result] = await run("client-early", "none", { start });
    expect(result?.reason).toBe(
      "SUCCESS: the process ended before it was killed\nthe driver is not alive beside it: FAILURE: it is gone",
    );
  });

  it("selects targets by a text", () => {
    const sizes = ["Random", "crash/", "parallel", "nothing"].map((filter) => stressSize({ filter }));
    expect(sizes).toEqual([2, stressTargets.length - 1, 1, 0]);
  });
});

describe("a network under stress", () => {
  const folder = mkdtempSync(join(tmpdir(), "nnhal-stress-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const network = fileURLToPath(new URL("../../../../apps/cli/demo/digits-uint8.tflite", import.meta.url));
  const file = (name: string, content: Uint8Array) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  /** A network of one operator. */
  const networkOf = (name: string) =>
    writeTflite({
      version: 3,
      description: "",
      subgraphs: [
        {
          name: "",
          tensors: ["in", "out"].map((name) => ({ name, shape: [1, 4], type: "FLOAT32", isVariable: false })),
          operators: [{ name, version: 1, inputs: [0], outputs: [1], options: {} }],
          inputs: [0],
          outputs: [1],
        },
      ],
      metadata: [],
      signatures: [],
    });

  it("runs, and its results are compared with those of its first execution", async () => {
    const device = await reference();
    const own: StressJob = { ...job, models: { file: network }, lanes: 1 };
    let now = 0;
    const tally = await doStressJob(device, { ...own, milliseconds: 20 }, () => now++);
    expect(tally.executions).toBeGreaterThan(2);
    let executions = 0;
    const drifting: Device = {
      ...device,
      async prepareModel(model, options) {
        const result = await device.prepareModel(model, options);
        const { preparedModel } = result;
        if (preparedModel === null) return result;
        const execute: typeof preparedModel.execute = async (request, how) => {
          const answer = await preparedModel.execute(request, how);
          const pool = request.pools[1];
          const handle = pool?.kind === "memory" ? pool.memory.handle : null;
          if (executions++ === 1 && handle?.kind === "buffer") {
            const bytes = new Uint8Array(handle.buffer, handle.byteOffset);
            bytes[3] = (bytes[3] ?? 0) ^ 1;
          }
          return answer;
        };
        return { ...result, preparedModel: { ...preparedModel, execute } };
      },
    };
    await expect(doStressJob(drifting, own)).rejects.toThrow(
      /digits-uint8\.tflite: byte 3 of the results is \d+, of the first execution \d+$/,
    );
  });

  it("is in the jobs of all targets but the random ones", async () => {
    const jobs: StressJob[] = [];
    const start = (job: StressJob) => {
      jobs.push(job);
      return pretend(idle);
    };
    await run("-random", "none", { start, network });
    await run("parallel-inference", "none", { start, network });
    expect(jobs.filter(({ work }) => work !== "alive").map(({ models }) => models)).toEqual([
      "random",
      "random",
      { file: network },
    ]);
  });

  it.each([
    ["is missing", () => join(folder, "gone.tflite"), /^cannot read the network .*gone\.tflite: ENOENT/],
    ["is another file", () => file("text.tflite", Buffer.from("text")), /^cannot read the network .*text\.tflite: /],
    [
      "has an operator that the HAL lacks",
      () => file("unknown.tflite", networkOf("RFFT2D")),
      /^cannot read the network .*unknown\.tflite: .*RFFT2D/,
    ],
  ])("that %s ends the suite before a process is started", async (_what, path, message) => {
    const start = () => expect.fail("a process was started");
    await expect(run("", "none", { start, network: path() })).rejects.toThrow(message);
  });

  it("that the device does not support is unsupported", async () => {
    const [result] = await run("crash/parallel-inference", "supports nothing", { network });
    expect(result).toEqual({
      name: "crash/parallel-inference",
      subject: "parallel-inference",
      verdict: "unsupported",
      reason: "not today",
    });
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

  it.each([
    ["does not count garbage", false],
    ["counts what the driver keeps", true],
  ])("of growth %s", async (_what, isKept) => {
    const device = await reference();
    const all: unknown[] = [];
    const littering: Device = {
      ...device,
      async prepareModel(model, options) {
        all.push(new Array(2 ** 17).fill(0.5));
        if (!isKept && all.length >= 8) all.length = 0;
        return device.prepareModel(model, options);
      },
    };
    let now = 0;
    const { growth, prepared } = await doStressJob(
      littering,
      { ...job, work: "grow", milliseconds: 1000 },
      () => now++,
    );
    expect(prepared).toBeGreaterThan(40);
    if (isKept) expect(growth).toBeGreaterThan((prepared * 2 ** 20) / 3);
    else expect(growth).toBeLessThan((prepared * 2 ** 20) / 6);
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
