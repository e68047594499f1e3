/** Runs of an engine that returns wrong answers or does not end: the outcomes of their executions. */
import type { Executable, RunResult } from "@nnhal/backend";
import { elementAt } from "@nnhal/operations";
import { DeviceStatus, ErrorStatus } from "@nnhal/types";
import { describe, expect, it, vi } from "vitest";
import type { DeviceOptions } from "../device/device.ts";
import { absModel, absRequest, succeeding } from "../device/fake-backend.test-helper.ts";
import { compiling, open, settle, sufficient, throws } from "../device/guarded-device.test-helper.ts";
import { prepareOn } from "../domains/relu-model.test-helper.ts";

const { NONE, GENERAL_FAILURE, MISSED_DEADLINE_TRANSIENT, OUTPUT_INSUFFICIENT_SIZE } = ErrorStatus;

describe("running", () => {
  async function prepare(change: Partial<Executable>, options: Partial<DeviceOptions> = {}) {
    const opened = await open(compiling(change), options);
    return { ...opened, model: await prepareOn(opened.device, absModel) };
  }

  it.each<[string, unknown, string]>([
    ["nothing", undefined, "result: the result is undefined"],
    ["null", null, "result: the result is null"],
    ["an unknown status", { status: 99, outputShapes: [] }, "status: the status is 99"],
    ["NONE without shapes", { status: NONE }, "NONE comes with undefined where there are 1 outputs"],
    [
      "NONE with too few shapes",
      { status: NONE, outputShapes: [] },
      "NONE comes with 0 shapes where there are 1 outputs",
    ],
    [
      "NONE and not sufficient",
      { status: NONE, outputShapes: [{ dimensions: [2], isSufficient: false }] },
      "isSufficient false for output 0",
    ],
    [
      "OUTPUT_INSUFFICIENT_SIZE without shapes",
      { status: OUTPUT_INSUFFICIENT_SIZE, outputShapes: [] },
      "comes with 0 shapes",
    ],
    [
      "OUTPUT_INSUFFICIENT_SIZE and all sufficient",
      { status: OUTPUT_INSUFFICIENT_SIZE, outputShapes: sufficient },
      "isSufficient true for every output",
    ],
    [
      "another rank",
      { status: NONE, outputShapes: [{ dimensions: [1, 2], isSufficient: true }] },
      "output 0 has dimensions [1, 2] where a TENSOR_FLOAT32 [2] is declared",
    ],
    [
      "another extent",
      { status: NONE, outputShapes: [{ dimensions: [1], isSufficient: true }] },
      "output 0 has dimensions [1] where",
    ],
    [
      "a fraction",
      { status: NONE, outputShapes: [{ dimensions: [2.5], isSufficient: true }] },
      "extent 0 of output 0: expected an integer >= 0, got 2.5",
    ],
    ["a getter that throws", Object.defineProperty({}, "status", { get: throws }), "reading it failed: on fire"],
  ])("that answers %s is a failure that names the rule, and is logged", async (_what, answer, problem) => {
    for (const run of [() => answer, async () => answer]) {
      const { model, errors } = await prepare({ run: run as Executable["run"] });
      const { status, message, outputShapes } = await model.execute(absRequest().request);
      expect([status, outputShapes]).toEqual([GENERAL_FAILURE, []]);
      expect(message).toContain("executing: the backend's answer is not valid: ");
      expect(message).toContain(problem);
      expect(errors).toEqual([`nnhal-fake: ${message}`]);
    }
  });

  it("ignores a time on the device that is not one", async () => {
    for (const timeOnDevice of [5, -5n, "5"]) {
      const run = (): RunResult => ({ status: NONE, outputShapes: sufficient, timeOnDevice: timeOnDevice as bigint });
      const { model } = await prepare({ run });
      const { status, timing } = await model.execute(absRequest().request, { measure: 1 });
      expect([status, timing.timeOnDevice]).toEqual([NONE, 2n ** 64n - 1n]);
    }
  });

  /** A run that the test ends, and that has written its output by then. */
  function slowRun() {
    const runs: { readonly end: (result?: RunResult) => void }[] = [];
    const run: Executable["run"] = (_inputs, outputs) =>
      new Promise((resolve) => {
        runs.push({
          end(result = { status: NONE, outputShapes: sufficient }) {
            elementAt(outputs, 0).bytes.fill(7);
            resolve(result);
          },
        });
      });
    return { run, runs };
  }
  const missed = {
    status: MISSED_DEADLINE_TRANSIENT,
    message: "the deadline passed during the execution",
    outputShapes: [],
  };

  it("that does not end is missed at the deadline, and a late result reaches nothing", async () => {
    const { run, runs } = slowRun();
    const { model, clock } = await prepare({ run });
    const { request, output } = absRequest();
    const executing = model.execute(request, { deadline: 1100n });
    await settle();
    clock.advance(100n);
    await expect(executing).resolves.toMatchObject(missed);
    elementAt(runs, 0).end();
    await settle();
    expect(output()).toEqual([0, 0]);
    expect(clock.waiting).toBe(0);
  });

  it("that ends before the deadline has its result, and no timer stays", async () => {
    const { run, runs } = slowRun();
    const { model, clock } = await prepare({ run });
    const { request, output } = absRequest();
    const executing = model.execute(request, { deadline: 1100n });
    await settle();
    clock.advance(99n);
    elementAt(runs, 0).end();
    await expect(executing).resolves.toMatchObject({ status: NONE, outputShapes: sufficient });
    expect(new Uint8Array(Float32Array.from(output()).buffer)).toEqual(new Uint8Array(8).fill(7));
    expect(clock.waiting).toBe(0);
  });

  it("that answers NONE after the deadline has missed it: both sides", async () => {
    for (const [time, status] of [
      [99n, NONE],
      [100n, MISSED_DEADLINE_TRANSIENT],
    ] as const) {
      const opened = await open({
        compile: async () => ({
          ...succeeding,
          run(_inputs, outputs) {
            opened.clock.advance(time);
            elementAt(outputs, 0).bytes.fill(7);
            return { status: NONE, outputShapes: sufficient };
          },
        }),
      });
      const model = await prepareOn(opened.device, absModel);
      const { request, output } = absRequest();
      expect((await model.execute(request, { deadline: 1100n })).status).toBe(status);
      expect(output()[0] !== 0).toBe(status === NONE);
    }
  });

  it("keeps its turn for a while after the deadline, and then no longer", async () => {
    const { run, runs } = slowRun();
    const { model, clock } = await prepare({ run }, { concurrency: 1, overrun: 50n });
    const first = model.execute(absRequest().request, { deadline: 1100n });
    const second = model.execute(absRequest().request);
    await settle();
    clock.advance(100n);
    await expect(first).resolves.toMatchObject(missed);
    clock.advance(49n);
    await settle();
    expect(runs).toHaveLength(1);
    clock.advance(1n);
    await settle();
    expect(runs).toHaveLength(2);
    elementAt(runs, 1).end();
    await expect(second).resolves.toMatchObject({ status: NONE });
  });

  it("releases its turn once when it ends within that time", async () => {
    const { run, runs } = slowRun();
    const { model, clock } = await prepare({ run }, { concurrency: 1, overrun: 50n });
    const first = model.execute(absRequest().request, { deadline: 1100n });
    const others = [model.execute(absRequest().request), model.execute(absRequest().request)];
    await settle();
    clock.advance(100n);
    await first;
    elementAt(runs, 0).end();
    await settle();
    expect(runs).toHaveLength(2);
    clock.advance(1000n);
    await settle();
    expect([runs.length, clock.waiting]).toEqual([2, 0]);
    elementAt(runs, 1).end();
    await settle();
    elementAt(runs, 2).end();
    await expect(Promise.all(others)).resolves.toMatchObject([{ status: NONE }, { status: NONE }]);
  });

  it("that does not end takes a place of its client until it ends, so that hanging runs are limited", async () => {
    const { run, runs } = slowRun();
    const limits = { waitingPerClient: 2 };
    const { device, model, clock } = await prepare({ run }, { concurrency: 1, overrun: 10n, limits });
    for (let turn = 1; turn <= 2; turn++) {
      const executing = model.execute(absRequest().request, { deadline: clock.now() + 10n });
      await settle();
      clock.advance(10n);
      await executing;
      clock.advance(10n);
    }
    expect(device.getStatus()).toBe(DeviceStatus.BUSY);
    elementAt(runs, 0).end();
    await settle();
    expect(device.getStatus()).toBe(DeviceStatus.AVAILABLE);
  });

  it("that hangs keeps the executable until it ends", async () => {
    const { run, runs } = slowRun();
    const close = vi.fn();
    const releaseScratch = vi.fn();
    const { model, clock } = await prepare({ run, close, releaseScratch }, { idleAfter: 5n });
    const executing = model.execute(absRequest().request, { deadline: 1100n });
    await settle();
    clock.advance(100n);
    await executing;
    clock.advance(1000n);
    model.close();
    await settle();
    expect([close.mock.calls.length, releaseScratch.mock.calls.length]).toEqual([0, 0]);
    elementAt(runs, 0).end();
    await settle();
    expect(close).toHaveBeenCalledTimes(1);
  });

  it("behind fences ends by the deadline too", async () => {
    const { run } = slowRun();
    const { model, clock } = await prepare({ run });
    const launching = model.executeFenced?.(absRequest().request, [], { deadline: 1100n });
    await settle();
    clock.advance(100n);
    const launched = await launching;
    await settle();
    expect(launched?.syncFence?.state).toBe("ERROR");
    expect(await launched?.callback?.getExecutionInfo()).toMatchObject({ status: MISSED_DEADLINE_TRANSIENT });
  });

  it("accepts the answer of a thenable that is not a promise", async () => {
    const answer = { status: NONE, outputShapes: sufficient };
    // biome-ignore lint/suspicious/noThenProperty: that is what is tried.
    const run = () => ({ then: (resolve: (result: RunResult) => void) => resolve(answer) }) as Promise<RunResult>;
    const { model } = await prepare({ run });
    await expect(model.execute(absRequest().request)).resolves.toMatchObject({ status: NONE });
  });
});
