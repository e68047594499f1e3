/** The view of a burst's user: the same whether requests go through queues or are executed directly. */

import { elementAt } from "@nnhal/operations";
import { manualClock } from "@nnhal/test-kit/clock";
import { ErrorStatus, MeasureTiming, type PreparedModel, type Request } from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";
import { describe, expect, it, vi } from "vitest";
import { createLocalBurst, type LocalBurstOptions } from "./local.ts";
import { adder, result } from "./raw-burst.test-helper.ts";

const { NONE, GENERAL_FAILURE, INVALID_ARGUMENT, OUTPUT_INSUFFICIENT_SIZE, DEVICE_UNAVAILABLE } = ErrorStatus;
const { MISSED_DEADLINE_TRANSIENT } = ErrorStatus;
const shape = { dimensions: [1], isSufficient: true };
const turn = () => new Promise((resolve) => setImmediate(resolve));

it("a burst that executes directly carries the device's message", async () => {
  const { burst } = await createLocalBurst({ execute: async () => ({ ...result(INVALID_ARGUMENT), message: "why" }) });
  expect(await burst?.compute(adder().request)).toMatchObject({ status: INVALID_ARGUMENT, message: "why" });
  await burst?.close();
});

describe.each([
  ["through queues", false],
  ["executed directly", true],
])("a burst %s", (_way, direct) => {
  async function burstOver(model: Pick<PreparedModel, "execute">, options: LocalBurstOptions = {}) {
    const { burst, message } = await createLocalBurst(model, { direct, ...options });
    if (burst === null) throw new Error(message);
    return burst;
  }

  it("executes requests one after the other, in their order", async () => {
    const { request } = adder();
    const order: string[] = [];
    let count = 0;
    const burst = await burstOver({
      async execute() {
        const mine = count++;
        order.push(`begin ${mine}`);
        await new Promise((resolve) => setTimeout(resolve, 5 - mine));
        order.push(`end ${mine}`);
        return result(NONE, [{ dimensions: [mine], isSufficient: true }]);
      },
    });
    const all = await Promise.all([burst.compute(request), burst.compute(request), burst.compute(request)]);
    expect(order).toEqual(["begin 0", "end 0", "begin 1", "end 1", "begin 2", "end 2"]);
    expect(all.map(({ outputShapes }) => elementAt(outputShapes, 0).dimensions)).toEqual([[0], [1], [2]]);
    await burst.close();
  });

  it("uses another memory's bytes when a memory is freed and another one comes", async () => {
    const [first, second] = [adder(), adder()];
    const burst = await burstOver(first.model);
    first.values.set([1, 2, 0]);
    second.values.set([3, 4, 0]);
    await burst.compute(first.request);
    await burst.freeMemory(first.memory);
    await burst.compute(second.request);
    expect([first.values[2], second.values[2]]).toEqual([3, 7]);
    await burst.close();
  });

  it("keeps the memory that a key stands for until it is freed", async () => {
    const [first, second] = [adder(), adder()];
    const burst = await burstOver(first.model);
    const keys = ["mine"];
    first.values.set([1, 2, 0]);
    second.values.set([3, 4, 0]);
    await burst.compute(first.request, { keys });
    first.values[0] = 10;
    await burst.compute(second.request, { keys });
    expect([first.values[2], second.values[2]]).toEqual([12, 0]);
    await burst.freeMemory(second.memory);
    await burst.compute(second.request, { keys });
    expect(second.values[2]).toBe(0);
    await burst.freeMemory("mine");
    await burst.compute(second.request, { keys });
    expect(second.values[2]).toBe(7);
    await burst.close();
  });

  it("frees a memory after the execution that uses it", async () => {
    const { request, memory } = adder();
    const order: string[] = [];
    let finish = () => {};
    const execute: PreparedModel["execute"] = () =>
      new Promise((resolve) => {
        finish = () => {
          order.push("executed");
          resolve(result(NONE, [shape]));
        };
      });
    const burst = await burstOver({ execute });
    const under = burst.compute(request);
    const freed = burst.freeMemory(memory).then(() => order.push("freed"));
    await turn();
    expect(order).toEqual([]);
    finish();
    await freed;
    expect(order).toEqual(["executed", "freed"]);
    expect((await under).status).toBe(NONE);
    await burst.close();
  });

  it.each<[string, Request, Parameters<Awaited<ReturnType<typeof burstOver>>["compute"]>[1], string]>([
    ["has a token pool", { ...adder().request, pools: [{ kind: "token", token: 1 }] }, {}, "pool 0 is a token"],
    ["has a deadline", adder().request, { deadline: 1n }, "deadline"],
    ["has a loop timeout", adder().request, { loopTimeoutDuration: 1n }, "loop timeout"],
    ["has hints", adder().request, { hints: { pairs: [], extensionNameToPrefix: [] } }, "hints"],
    ["has a signal", adder().request, { signal: new AbortController().signal }, "signal"],
  ])("falls back if a request %s, and sends nothing", async (_what, request, options, message) => {
    const execute = vi.fn(async () => result(NONE));
    const burst = await burstOver({ execute });
    const answer = await burst.compute(request, options);
    expect(answer).toMatchObject({ status: GENERAL_FAILURE, outputShapes: [], timing: notMeasured, fallback: true });
    expect(answer.message).toContain(message);
    expect(execute).not.toHaveBeenCalled();
    await burst.close();
  });

  it("falls back at once if a request has a deadline, whatever is under way", async () => {
    const { request } = adder();
    let finish = () => {};
    const burst = await burstOver({
      execute: () =>
        new Promise((resolve) => {
          finish = () => resolve(result(NONE, [shape]));
        }),
    });
    const under = burst.compute(request);
    expect(await burst.compute(request, { deadline: 1n })).toMatchObject({ fallback: true });
    await turn();
    finish();
    expect(await under).toMatchObject({ status: NONE });
    await burst.close();
  });

  it("does not fall back if the service refuses or fails", async () => {
    for (const status of [INVALID_ARGUMENT, GENERAL_FAILURE, DEVICE_UNAVAILABLE] as const) {
      const burst = await burstOver({ execute: async () => result(status) });
      const answer = await burst.compute(adder().request);
      expect(answer).toMatchObject({ status, outputShapes: [], timing: notMeasured, fallback: false });
      await burst.close();
    }
  });

  it("has no status that is younger than bursts, and no shapes or times beside an error", async () => {
    const timing = { timeOnDevice: 1n, timeInDriver: 2n };
    const execute = async () => ({ ...result(MISSED_DEADLINE_TRANSIENT, [shape]), timing });
    const burst = await burstOver({ execute });
    const answer = await burst.compute(adder().request, { measure: MeasureTiming.YES });
    expect(answer).toMatchObject({ status: GENERAL_FAILURE, outputShapes: [], timing: notMeasured, fallback: false });
    await burst.close();
  });

  it("has times only if they were asked for", async () => {
    let time = 0n;
    const timing = { timeOnDevice: 3n, timeInDriver: 4n };
    const execute = vi.fn<PreparedModel["execute"]>(async () => {
      time += 9_000n;
      return { ...result(NONE, [shape]), timing };
    });
    const burst = await burstOver({ execute }, { now: () => time });
    const { request } = adder();
    expect((await burst.compute(request)).timing).toEqual(notMeasured);
    const measured = await burst.compute(request, { measure: MeasureTiming.YES });
    expect(measured.timing).toEqual({ timeOnDevice: 3n, timeInDriver: 9n });
    expect(execute.mock.calls.map(([, options]) => options)).toEqual([{ measure: 0 }, { measure: 1 }]);
    await burst.close();
  });

  it("answers GENERAL_FAILURE for an execution that throws, rejects or answers nonsense, and goes on", async () => {
    const { request } = adder();
    const answers: (() => unknown)[] = [
      () => {
        throw new Error("on fire");
      },
      () => Promise.reject(new Error("on fire")),
      () => null,
      () => ({ status: NONE }),
      () => result(NONE, [shape, shape]),
      () => result(OUTPUT_INSUFFICIENT_SIZE),
    ];
    const execute = vi.fn();
    for (const answer of answers) execute.mockImplementationOnce(answer);
    execute.mockResolvedValue(result(NONE, [shape]));
    const burst = await burstOver({ execute });
    for (const _ of answers) {
      expect(await burst.compute(request)).toMatchObject({
        status: GENERAL_FAILURE,
        outputShapes: [],
        fallback: false,
      });
    }
    expect(await burst.compute(request)).toMatchObject({ status: NONE });
    await burst.close();
  });

  it.each([
    ["a number that is not a uint32", { inputs: [{ ...adder().request.inputs[0], dimensions: [-1] }] }],
    ["no inputs at all", { inputs: undefined }],
    ["a pool that is null", { pools: [null] }],
  ])("refuses a request with %s, and goes on", async (_what, change) => {
    const { model, request } = adder();
    const burst = await burstOver({
      // As a device does: what cannot be read is not valid.
      execute: async (asked) => (asked.inputs === undefined ? result(INVALID_ARGUMENT) : model.execute(asked)),
    });
    const wrong: Request = Object.assign({ ...request }, change);
    expect(await burst.compute(wrong)).toMatchObject({ status: INVALID_ARGUMENT, fallback: false });
    expect(await burst.compute(request)).toMatchObject({ status: NONE });
    await burst.close();
  });

  it("refuses options that are null", async () => {
    const { model, request } = adder();
    const burst = await burstOver(model);
    expect(await burst.compute(request, JSON.parse("null"))).toMatchObject({ status: INVALID_ARGUMENT });
    await burst.close();
  });

  it("is over when it is closed, however often, after the request under way", async () => {
    const { model, request } = adder();
    const burst = await burstOver(model);
    const last = burst.compute(request);
    await Promise.all([burst.close(), burst.close()]);
    expect(await last).toMatchObject({ status: NONE });
    expect(await burst.compute(request)).toMatchObject({
      status: GENERAL_FAILURE,
      fallback: true,
      message: expect.stringContaining("the burst is closed"),
    });
  });

  it("falls back once it is abandoned", async () => {
    const { model, request } = adder();
    const burst = await burstOver(model);
    burst.abandon("the service is gone");
    burst.abandon("again");
    expect(await burst.compute(request)).toMatchObject({
      status: GENERAL_FAILURE,
      fallback: true,
      message: expect.stringContaining("the service is gone"),
    });
    await burst.close();
  });

  it("gives the thread's timers a turn although every result comes at once", async () => {
    const { model, request } = adder();
    const burst = await burstOver(model);
    let fired = false;
    setTimeout(() => {
      fired = true;
    }, 1);
    const end = performance.now() + 10_000;
    while (!fired && performance.now() < end) await burst.compute(request);
    expect(fired).toBe(true);
    await burst.close();
  });

  it("calls onIdle once when no requests come", async () => {
    const { model, request } = adder();
    const { timer, advance } = manualClock();
    const onIdle = vi.fn();
    const burst = await burstOver(model, { timer, idleAfter: 100_000_000n, onIdle });
    await burst.compute(request);
    advance(100_000_000n);
    expect(onIdle).toHaveBeenCalledTimes(0);
    advance(100_000_000n);
    expect(onIdle).toHaveBeenCalledTimes(1);
    await burst.close();
  });
});
