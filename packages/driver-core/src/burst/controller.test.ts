import { elementAt } from "@nnhal/operations";
import {
  ErrorStatus,
  type ExecutionResult,
  errorStatusNames,
  type FmqResultDatum,
  type IBurstContext,
  type PreparedModel,
  type Request,
} from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";
import { describe, expect, it, vi } from "vitest";
import { localSignal } from "../memory/signal.ts";
import type { BurstOptions } from "./burst.ts";
import { openChannel } from "./channel.ts";
import { type ConfigureExecutionBurst, createBurst } from "./controller.ts";
import { resultData, resultWords } from "./data.ts";
import { createLocalBurst, withFallback } from "./local.ts";
import { createMemorySlots } from "./memory-slots.ts";
import { adder, result } from "./raw-burst.test-helper.ts";
import { writeResult } from "./result-codec.ts";
import { ringReader, ringWriter } from "./ring.ts";
import { configureExecutionBurst } from "./server.ts";

const { NONE, GENERAL_FAILURE, INVALID_ARGUMENT, OUTPUT_INSUFFICIENT_SIZE, DEVICE_UNAVAILABLE } = ErrorStatus;
const shape = { dimensions: [1], isSufficient: true };

async function burstOver(model: Pick<PreparedModel, "execute">, options: Parameters<typeof createLocalBurst>[1] = {}) {
  const { burst, message } = await createLocalBurst(model, { direct: false, ...options });
  if (burst === null) throw new Error(message);
  return burst;
}

/** A burst whose service answers each request with some words, or does not. */
async function burstAnswering(answers: (Int32Array | "nothing")[], options: BurstOptions = {}) {
  const signal = localSignal();
  const freed: number[] = [];
  const service = { close: () => {}, write: (_packet: Int32Array): boolean => false };
  const { burst, message } = await createBurst(
    (_callback, requestChannel, resultChannel) => {
      const requests = openChannel(requestChannel, "FmqRequestDatum");
      const results = openChannel(resultChannel, "FmqResultDatum");
      if ("noRing" in requests || "noRing" in results) throw new Error("no ring");
      const reader = ringReader(requests, requestChannel.capacity, signal);
      const writer = ringWriter(results, resultChannel.capacity, signal);
      service.write = writer.write;
      service.close = () => {
        reader.close();
        writer.close();
      };
      const serve = async () => {
        for (;;) {
          await reader.sleep(() => false);
          if (reader.isPeerClosed()) return;
          if (reader.read() === undefined) continue;
          const answer = answers.shift();
          if (answer !== undefined && answer !== "nothing") writer.write(answer);
        }
      };
      void serve();
      return { status: NONE, context: { freeMemory: (slot) => void freed.push(slot) } };
    },
    { signal, pollingWindow: 0, ...options },
  );
  if (burst === null) throw new Error(message);
  return { burst, freed, service };
}

const words = (data: readonly FmqResultDatum[]) => resultWords(data);
const packet = (status: ErrorStatus, outputShapes: ExecutionResult["outputShapes"] = [], timing = notMeasured) =>
  words(resultData(writeResult({ status, outputShapes, timing })));

describe("starting a burst", () => {
  const context: IBurstContext = { freeMemory() {} };
  it.each<[string, ConfigureExecutionBurst, ErrorStatus, string]>([
    [
      "the device refuses",
      () => ({ status: DEVICE_UNAVAILABLE, message: "busy", context: null }),
      DEVICE_UNAVAILABLE,
      "busy",
    ],
    ["there is no context", () => ({ status: NONE, context: null }), GENERAL_FAILURE, "no burst context"],
    ["the call fails", () => Promise.reject(new Error("gone")), GENERAL_FAILURE, "gone"],
    [
      "it throws",
      () => {
        throw new Error("on fire");
      },
      GENERAL_FAILURE,
      "on fire",
    ],
  ])("fails if %s", async (_what, configure, status, message) => {
    const answer = await createBurst(configure);
    expect(answer).toMatchObject({ status, burst: null });
    expect(answer.message).toContain(message);
  });

  it("makes queues of 1024 data each by default", async () => {
    const configure = vi.fn<ConfigureExecutionBurst>(() => ({ status: NONE, context }));
    await createBurst(configure);
    await createBurst(configure, { requestCapacity: 16, resultCapacity: 2 });
    expect(configure.mock.calls.map(([, requests, results]) => [requests.capacity, results.capacity])).toEqual([
      [1024, 1024],
      [16, 2],
    ]);
    await expect(createBurst(configure, { requestCapacity: 10 })).rejects.toThrow(RangeError);
  });
});

describe("a burst through queues", () => {
  it("names a memory by a slot: the one freed last is used first", () => {
    const slots = createMemorySlots();
    const { memory } = adder();
    expect(["a", "b", "c", "a"].map((key) => slots.slotOf(memory, key))).toEqual([0, 1, 2, 0]);
    expect([slots.free("a"), slots.free("c"), slots.free("a"), slots.free("x")]).toEqual([0, 2, undefined, undefined]);
    expect(["d", "e", "f", "b"].map((key) => slots.slotOf(memory, key))).toEqual([2, 0, 3, 1]);
    expect(slots.size).toBe(4);
  });

  it("answers getMemories for all slots or for none", () => {
    const slots = createMemorySlots();
    const memories = [adder().memory, adder().memory, adder().memory];
    for (const memory of memories) slots.slotOf(memory, memory);
    slots.free(memories[1]);
    expect(slots.getMemories([2, 0, 2])).toEqual({ status: NONE, buffers: [memories[2], memories[0], memories[2]] });
    expect(slots.getMemories([])).toEqual({ status: NONE, buffers: [] });
    for (const bad of [1, 3, -1, 0x7fff_ffff, 0.5, Number.NaN]) {
      expect(slots.getMemories([0, bad])).toEqual({
        status: INVALID_ARGUMENT,
        message: `slot ${bad} has no memory`,
        buffers: [],
      });
    }
  });

  it("reports a freed memory to the service before its slot is reused", async () => {
    const { burst, freed } = await burstAnswering([packet(NONE), packet(NONE)]);
    const { request, memory } = adder();
    await burst.freeMemory(memory);
    expect(freed).toEqual([]);
    await burst.compute(request);
    await Promise.all([burst.freeMemory(memory), burst.freeMemory(memory), burst.compute(adder().request)]);
    expect(freed).toEqual([0]);
    await burst.close();
  });

  it("knows a memory by the key that it is given with", async () => {
    const { model, request, memory } = adder();
    const execute = vi.fn(model.execute);
    const configured: Parameters<ConfigureExecutionBurst>[0][] = [];
    const waiting = { signal: localSignal(), pollingWindow: 0 };
    const { burst } = await createBurst(
      (callback, requests, results) => {
        configured.push(callback);
        return configureExecutionBurst({ execute }, callback, requests, results, waiting);
      },
      { ...waiting, direct: false },
    );
    await burst?.compute(request, { keys: ["mine"] });
    expect(await elementAt(configured, 0).getMemories([0])).toEqual({ status: NONE, buffers: [memory] });
    await burst?.freeMemory(memory);
    expect(await elementAt(configured, 0).getMemories([0])).toMatchObject({ status: NONE });
    await burst?.freeMemory("mine");
    expect(await elementAt(configured, 0).getMemories([0])).toMatchObject({ status: INVALID_ARGUMENT });
    await burst?.close();
  });

  const large = (dimensions: number): Request => {
    const { request } = adder();
    return {
      ...request,
      inputs: [{ ...elementAt(request.inputs, 0), dimensions: Array.from({ length: dimensions }, () => 1) }],
    };
  };

  it.each<[string, Request, Parameters<Awaited<ReturnType<typeof burstOver>>["compute"]>[1], string]>([
    ["has a token pool", { ...adder().request, pools: [{ kind: "token", token: 1 }] }, {}, "pool 0 is a token"],
    ["has a deadline", adder().request, { deadline: 1n }, "deadline"],
    ["has a loop timeout", adder().request, { loopTimeoutDuration: 1n }, "loop timeout"],
    ["has hints", adder().request, { hints: { pairs: [], extensionNameToPrefix: [] } }, "hints"],
    ["has a signal", adder().request, { signal: new AbortController().signal }, "signal"],
    ["is too long for the queue", large(11), {}, "its packet has 17 data where the queue holds 16"],
  ])("falls back if a request %s, and sends nothing", async (_what, request, options, message) => {
    const execute = vi.fn(async () => result(NONE));
    const burst = await burstOver({ execute }, { requestCapacity: 16 });
    const answer = await burst.compute(request, options);
    expect(answer).toMatchObject({ status: GENERAL_FAILURE, outputShapes: [], timing: notMeasured, fallback: true });
    expect(answer.message).toContain(message);
    expect(execute).not.toHaveBeenCalled();
    expect(await burst.compute(large(10))).toMatchObject({ status: NONE, fallback: false });
    await burst.close();
  });

  it("names the status of an answer, since the queue carries no message", async () => {
    for (const status of [INVALID_ARGUMENT, GENERAL_FAILURE, DEVICE_UNAVAILABLE] as const) {
      const burst = await burstOver({ execute: async () => ({ ...result(status), message: "why" }) });
      const message = `the driver answered ${errorStatusNames.get(status)}; a burst carries no message that says why`;
      expect(await burst.compute(adder().request)).toMatchObject({ status, message, fallback: false });
      await burst.close();
    }
  });

  it.each<[string, Int32Array, Partial<ExecutionResult>]>([
    ["NONE with shapes", packet(NONE, [shape]), { status: NONE, outputShapes: [shape] }],
    ["NONE without shapes", packet(NONE), { status: NONE, outputShapes: [] }],
    [
      "NONE with times",
      packet(NONE, [shape], { timeOnDevice: 1n, timeInDriver: 2n }),
      { status: NONE, timing: { timeOnDevice: 1n, timeInDriver: 2n } },
    ],
    ["NONE with too many shapes", packet(NONE, [shape, shape]), { status: GENERAL_FAILURE, outputShapes: [] }],
    [
      "OUTPUT_INSUFFICIENT_SIZE with shapes",
      packet(OUTPUT_INSUFFICIENT_SIZE, [{ ...shape, isSufficient: false }]),
      { status: OUTPUT_INSUFFICIENT_SIZE, outputShapes: [{ ...shape, isSufficient: false }] },
    ],
    [
      "OUTPUT_INSUFFICIENT_SIZE with times",
      packet(OUTPUT_INSUFFICIENT_SIZE, [shape], { timeOnDevice: 1n, timeInDriver: 2n }),
      { timing: notMeasured },
    ],
    ["OUTPUT_INSUFFICIENT_SIZE without shapes", packet(OUTPUT_INSUFFICIENT_SIZE), { status: GENERAL_FAILURE }],
    ["INVALID_ARGUMENT with shapes", packet(INVALID_ARGUMENT, [shape]), { status: GENERAL_FAILURE, outputShapes: [] }],
    ["INVALID_ARGUMENT", packet(INVALID_ARGUMENT), { status: INVALID_ARGUMENT }],
    ["a packet cut short", packet(NONE, [shape]).subarray(0, 8), { status: GENERAL_FAILURE }],
    ["two packets", Int32Array.of(...packet(NONE), ...packet(NONE)), { status: GENERAL_FAILURE }],
    ["no datum at all", new Int32Array(8), { status: GENERAL_FAILURE }],
  ])("takes %s for what it is", async (_what, answer, expected) => {
    const { burst } = await burstAnswering([answer, packet(NONE)]);
    const { request } = adder();
    expect(await burst.compute(request)).toMatchObject({ ...expected, fallback: false });
    expect(await burst.compute(request)).toMatchObject({ status: NONE });
    await burst.close();
  });

  it("does not accept an unrequested result as an answer", async () => {
    const { burst, service } = await burstAnswering([packet(NONE), packet(INVALID_ARGUMENT)]);
    const { request } = adder();
    expect((await burst.compute(request)).status).toBe(NONE);
    service.write(packet(NONE));
    expect((await burst.compute(request)).status).toBe(INVALID_ARGUMENT);
    await burst.close();
  });

  it("fails the request under way when the service ends, and falls back from then on", async () => {
    const { burst, service, freed } = await burstAnswering([packet(NONE), "nothing"]);
    const { request, memory } = adder();
    await burst.compute(request);
    const under = burst.compute(request);
    await new Promise((resolve) => setImmediate(resolve));
    service.close();
    expect(await under).toMatchObject({
      status: DEVICE_UNAVAILABLE,
      fallback: false,
      message: expect.stringContaining("ended the burst"),
    });
    expect(await burst.compute(request)).toMatchObject({ status: GENERAL_FAILURE, fallback: true });
    await burst.freeMemory(memory);
    expect(freed).toEqual([]);
    await burst.close();
  });

  it("fails the request under way when it is abandoned, and falls back from then on", async () => {
    const { burst } = await burstAnswering(["nothing"]);
    const { request } = adder();
    const under = burst.compute(request);
    const next = burst.compute(request);
    await new Promise((resolve) => setImmediate(resolve));
    burst.abandon("the service is gone");
    burst.abandon("again");
    expect(await under).toMatchObject({
      status: DEVICE_UNAVAILABLE,
      fallback: false,
      message: "no result came: the service is gone",
    });
    expect(await next).toMatchObject({ status: GENERAL_FAILURE, fallback: true });
    await burst.close();
  });
});

describe("withFallback", () => {
  it("executes in the burst what it can carry, and the rest by the ordinary call", async () => {
    const { model, request } = adder();
    const ordinary = vi.fn(model.execute);
    const burst = await burstOver(model);
    const execute = withFallback(burst, { execute: ordinary });
    expect(await execute(request)).toEqual({ status: NONE, outputShapes: [shape], timing: notMeasured });
    expect(ordinary).not.toHaveBeenCalled();
    expect(await execute(request, { deadline: 5n })).toMatchObject({ status: NONE });
    expect(ordinary.mock.calls).toEqual([[request, { deadline: 5n }]]);
    await burst.close();
    expect(await execute(request)).toMatchObject({ status: NONE });
    expect(ordinary).toHaveBeenCalledTimes(2);
  });
});
