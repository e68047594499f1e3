import { elementAt } from "@nnhal/operations";
import { manualClock } from "@nnhal/test-kit/clock";
import { ErrorStatus, type FmqDescriptor, type IBurstCallback, MeasureTiming, type PreparedModel } from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";
import { describe, expect, it, vi } from "vitest";
import { localSignal } from "../memory/signal.ts";
import { createChannel } from "./channel.ts";
import { requestData, resultData } from "./data.ts";
import { createMemorySlots } from "./memory-slots.ts";
import { adder, rawBurst, result } from "./raw-burst.test-helper.ts";
import { writeRequest } from "./request-codec.ts";
import { readResult, writeResult } from "./result-codec.ts";
import { configureExecutionBurst } from "./server.ts";
import { teardownPacket, withoutTeardown } from "./teardown.ts";

const { NONE, GENERAL_FAILURE, INVALID_ARGUMENT, OUTPUT_INSUFFICIENT_SIZE, MISSED_DEADLINE_TRANSIENT } = ErrorStatus;
const failure = { status: GENERAL_FAILURE, outputShapes: [], timing: notMeasured };
const sum = { status: NONE, outputShapes: [{ dimensions: [1], isSufficient: true }], timing: notMeasured };

/** A burst over an adder, whose memory has slot 0, and the packet of its request. */
function addBurst(options: Parameters<typeof rawBurst>[1] = {}) {
  const add = adder();
  const burst = rawBurst(add.model, options);
  const slot = burst.memories.slotOf(add.memory, add.memory);
  return { ...add, burst, slot, packet: requestData(writeRequest(add.request, MeasureTiming.NO, [slot])) };
}

describe("configureExecutionBurst", () => {
  const configure = (change: {
    callback?: IBurstCallback | null;
    requestChannel?: FmqDescriptor<"FmqRequestDatum">;
    resultChannel?: FmqDescriptor<"FmqResultDatum">;
  }) =>
    configureExecutionBurst(
      adder().model,
      change.callback === undefined ? createMemorySlots() : change.callback,
      change.requestChannel ?? createChannel("FmqRequestDatum", 8).descriptor,
      change.resultChannel ?? createChannel("FmqResultDatum", 8).descriptor,
      { signal: localSignal() },
    );

  it("answers a context", async () => {
    const { status, context } = configure({});
    expect(status).toBe(NONE);
    await context?.close();
  });

  it("refuses a callback that is null", () => {
    expect(configure({ callback: null })).toEqual({
      status: INVALID_ARGUMENT,
      message: "configuring a burst: the callback is null",
      context: null,
    });
  });

  it.each<[string, (good: FmqDescriptor<"FmqRequestDatum">) => FmqDescriptor<"FmqRequestDatum">, string]>([
    ["with another capacity", (good) => ({ ...good, capacity: 4 }), "its ring: expected the announced 4 slots, got 8"],
    ["with no capacity", (good) => ({ ...good, capacity: 0 }), "the capacity: expected an integer from "],
    ["that is cut short", (good) => ({ ...good, memory: { ...good.memory, size: 500 } }), "which need"],
    ["of no memory", (good) => ({ ...good, memory: { ...good.memory, handle: null } }), "has no handle"],
    [
      "at an odd place",
      ({ memory, ...good }) => ({
        ...good,
        memory: {
          name: memory.name,
          size: 400,
          handle: { kind: "buffer", buffer: new SharedArrayBuffer(600), byteOffset: 2 },
        },
      }),
      "not a multiple of 4",
    ],
    [
      "of zeros",
      ({ memory, ...good }) => ({
        ...good,
        memory: { ...memory, handle: { kind: "buffer", buffer: new SharedArrayBuffer(600), byteOffset: 0 } },
      }),
      "holds no ring",
    ],
  ])("refuses a request channel %s", (_what, change, message) => {
    const requestChannel = change(createChannel("FmqRequestDatum", 8).descriptor);
    const answer = configure({ requestChannel });
    expect(answer).toMatchObject({ status: INVALID_ARGUMENT, context: null });
    expect(answer.message).toContain("the request channel cannot be used");
    expect(answer.message).toContain(message);
  });

  it("refuses a result channel likewise", () => {
    const { descriptor } = createChannel("FmqResultDatum", 8);
    const answer = configure({ resultChannel: { ...descriptor, capacity: 16 } });
    expect(answer).toMatchObject({ status: INVALID_ARGUMENT, context: null });
    expect(answer.message).toContain("the result channel cannot be used");
  });
});

describe("a burst's service", () => {
  it("executes requests", async () => {
    const { burst, values, packet } = addBurst();
    values.set([1, 2]);
    expect(await burst.ask(packet)).toEqual(sum);
    expect(values[2]).toBe(3);
    values[0] = 5;
    expect(await burst.ask(packet)).toEqual(sum);
    expect(values[2]).toBe(7);
    await burst.context.close();
  });

  it("hands the prepared model the request and whether to measure", async () => {
    const { request } = adder();
    const execute = vi.fn<PreparedModel["execute"]>(async () => result(NONE));
    const burst = rawBurst({ execute });
    const slot = burst.memories.slotOf(adder().memory, "memory");
    await burst.ask(writeRequest(request, MeasureTiming.YES, [slot]));
    await burst.ask(writeRequest(request, MeasureTiming.NO, [slot]));
    expect(execute.mock.calls.map(([, options]) => options)).toEqual([{ measure: 1 }, { measure: 0 }]);
    const { inputs, outputs } = request;
    expect(execute.mock.calls[0]?.[0]).toMatchObject({ inputs, outputs });
    await burst.context.close();
  });

  it("measures from the time when the request leaves the queue, and only if requested and if the model measured", async () => {
    let time = 0n;
    const timing = { timeOnDevice: 3n, timeInDriver: 4n };
    const answers = [
      { ...result(NONE), timing },
      { ...result(NONE), timing },
      result(NONE),
      { ...result(GENERAL_FAILURE), timing },
    ];
    const execute = vi.fn(async () => {
      time += 9_000n;
      return answers.shift() ?? result(NONE);
    });
    const burst = rawBurst({ execute }, { now: () => time });
    const ask = async (measure: MeasureTiming) =>
      (await burst.ask(writeRequest({ inputs: [], outputs: [], pools: [] }, measure, []))).timing;
    expect(await ask(MeasureTiming.YES)).toEqual({ timeOnDevice: 3n, timeInDriver: 9n });
    expect(await ask(MeasureTiming.NO)).toEqual(notMeasured);
    expect(await ask(MeasureTiming.YES)).toEqual(notMeasured);
    expect(await ask(MeasureTiming.YES)).toEqual(notMeasured);
    await burst.context.close();
  });

  it("asks for the memories it does not know: once, each once, in ascending order", async () => {
    const memories = createMemorySlots();
    const getMemories = vi.spyOn(memories, "getMemories");
    const { burst, request, memory } = addBurst({ memories });
    for (let key = 0; key < 5; key++) memories.slotOf(memory, key);
    await burst.ask(writeRequest(request, MeasureTiming.NO, [4, 2, 4]));
    await burst.ask(writeRequest(request, MeasureTiming.NO, [3, 4, 1, 2]));
    await burst.ask(writeRequest(request, MeasureTiming.NO, [1, 2, 3, 4]));
    expect(getMemories.mock.calls).toEqual([[[2, 4]], [[1, 3]]]);
    await burst.context.close();
  });

  it.each([0x7fff_ffff, -1, -0x8000_0000, 1])(
    "answers slot %d, which stands for nothing, with INVALID_ARGUMENT",
    async (slot) => {
      const { burst, request, packet, executed } = addBurst();
      const invalid = { ...failure, status: INVALID_ARGUMENT };
      expect(await burst.ask(writeRequest(request, MeasureTiming.YES, [slot]))).toEqual(invalid);
      expect(executed).toEqual([]);
      expect(await burst.ask(packet)).toEqual(sum);
      await burst.context.close();
    },
  );

  it.each<[string, IBurstCallback["getMemories"]]>([
    ["too few", () => ({ status: NONE, buffers: [adder().memory] })],
    ["too many", () => ({ status: NONE, buffers: [adder().memory, adder().memory, adder().memory] })],
    ["a failure with", () => ({ status: GENERAL_FAILURE, buffers: [adder().memory, adder().memory] })],
    ["a rejection instead of", () => Promise.reject(new Error("gone"))],
  ])("remembers nothing if the client answers %s memories", async (_what, wrong) => {
    const memories = createMemorySlots();
    const { burst, memory, request } = addBurst({ memories });
    memories.slotOf(memory, "again");
    const packet = requestData(writeRequest(request, MeasureTiming.NO, [0, 1]));
    const getMemories = vi.spyOn(memories, "getMemories").mockImplementationOnce(wrong);
    expect(await burst.ask(packet)).toEqual({ ...failure, status: INVALID_ARGUMENT });
    await burst.ask(packet);
    expect(getMemories.mock.calls).toEqual([[[0, 1]], [[0, 1]]]);
    await burst.context.close();
  });

  it("forgets a freed slot, and ignores one that it does not know", async () => {
    const memories = createMemorySlots();
    const getMemories = vi.spyOn(memories, "getMemories");
    const { burst, packet } = addBurst({ memories });
    await burst.ask(packet);
    await burst.context.freeMemory(0);
    await burst.context.freeMemory(0);
    await burst.context.freeMemory(0x7fff_ffff);
    await burst.ask(packet);
    expect(getMemories.mock.calls).toEqual([[[0]], [[0]]]);
    await burst.context.close();
  });

  it("does not free a slot while an execution uses it", async () => {
    const { memory, request } = adder();
    const order: string[] = [];
    let finish = () => {};
    const execute: PreparedModel["execute"] = () =>
      new Promise((resolve) => {
        order.push("executing");
        finish = () => resolve(result(NONE));
      });
    const burst = rawBurst({ execute });
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    burst.send(writeRequest(request, MeasureTiming.NO, [burst.memories.slotOf(memory, memory)]));
    await turn();
    const freed = burst.context.freeMemory(0).then(() => order.push("freed"));
    await turn();
    expect(order).toEqual(["executing"]);
    finish();
    await freed;
    expect(order).toEqual(["executing", "freed"]);
    await burst.context.close();
  });

  it("returns shapes only with NONE and OUTPUT_INSUFFICIENT_SIZE, and no status newer than HAL 1.2", async () => {
    const shapes = [{ dimensions: [4], isSufficient: false }];
    const statuses = [NONE, OUTPUT_INSUFFICIENT_SIZE, INVALID_ARGUMENT, MISSED_DEADLINE_TRANSIENT];
    const execute = async () => result(statuses.shift() ?? NONE, shapes);
    const burst = rawBurst({ execute });
    const packet = requestData(writeRequest({ inputs: [], outputs: [], pools: [] }, MeasureTiming.NO, []));
    const answers = [];
    for (let count = 0; count < 4; count++) answers.push(await burst.ask(packet));
    expect(answers.map(({ status, outputShapes }) => [status, outputShapes])).toEqual([
      [NONE, shapes],
      [OUTPUT_INSUFFICIENT_SIZE, shapes],
      [INVALID_ARGUMENT, []],
      [GENERAL_FAILURE, []],
    ]);
    await burst.context.close();
  });

  it("survives a prepared model that throws, and one whose shapes cannot be written", async () => {
    const log: string[] = [];
    const answers = [
      () => Promise.reject(new Error("on fire")),
      async () => result(NONE, [{ dimensions: [-1], isSufficient: true }]),
      async () => result(NONE),
    ];
    const execute: PreparedModel["execute"] = async () => (await answers.shift()?.()) ?? result(NONE);
    const burst = rawBurst({ execute }, { log: (message) => log.push(message) });
    const packet = requestData(writeRequest({ inputs: [], outputs: [], pools: [] }, MeasureTiming.NO, []));
    expect(await burst.ask(packet)).toEqual(failure);
    expect(await burst.ask(packet)).toEqual(failure);
    expect(await burst.ask(packet)).toEqual({ ...failure, status: NONE });
    expect(log.join("\n")).toMatch(/on fire[\s\S]*operandDimensionValue is -1/);
    await burst.context.close();
  });

  it.each([
    [6, true],
    [7, false],
  ])("replaces a result longer than its queue: %d dimensions fit: %s", async (count, fits) => {
    const shapes = [{ dimensions: Array.from({ length: count - 1 }, () => 1), isSufficient: true }];
    const burst = rawBurst({ execute: async () => result(NONE, shapes) }, { resultCapacity: 8 });
    const packet = requestData(writeRequest({ inputs: [], outputs: [], pools: [] }, MeasureTiming.YES, []));
    const expected = { status: NONE, outputShapes: shapes, timing: notMeasured };
    expect(resultData(writeResult(expected))).toHaveLength(count + 2);
    for (let time = 0; time < 3; time++) expect(await burst.ask(packet)).toEqual(fits ? expected : failure);
    await burst.context.close();
  });

  it("waits for a client that does not read its results, and loses no answer", async () => {
    const burst = rawBurst({ execute: async () => result(NONE) }, { resultCapacity: 4 });
    const packet = requestData(writeRequest({ inputs: [], outputs: [], pools: [] }, MeasureTiming.YES, []));
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    for (let count = 0; count < 3; count++) {
      burst.send(packet);
      await turn();
    }
    const both = await burst.receive();
    expect(both).toEqual([
      ...resultData(writeResult({ ...failure, status: NONE })),
      ...resultData(writeResult({ ...failure, status: NONE })),
    ]);
    expect(await burst.receive()).toEqual(resultData(writeResult(failure)));
    await burst.context.close();
  });

  it("answers a packetInformation of zeros like anything malformed while the client is there", async () => {
    const { burst, packet } = addBurst();
    expect(await burst.ask(teardownPacket)).toEqual(failure);
    expect(await burst.ask(packet)).toEqual(sum);
    await burst.context.close();
  });

  it("answers a queue with invalid counters, and ends the burst: no later packet could be read", async () => {
    const log: string[] = [];
    const { burst, packet, executed } = addBurst({ log: (message) => log.push(message) });
    expect(await burst.ask(packet)).toEqual(sum);
    await new Promise((resolve) => setImmediate(resolve));
    // Another writer than the client's writes to the queue, and rings the reader's bell.
    const [tail, bell] = [16, 48];
    Atomics.store(burst.requests.words, tail, 123_456);
    burst.signal.wake(burst.requests.words, bell);
    await burst.context.ended;
    const words = await burst.receiveWords();
    expect(withoutTeardown(words).length).toBeLessThan(words.length);
    expect(readResult(withoutTeardown(words))).toEqual(failure);
    expect(burst.writer.isPeerClosed()).toBe(true);
    expect(log).toEqual(["the request queue's counters are not valid"]);
    expect(executed).toHaveLength(1);
  });

  it("ends when the client says that it is gone", async () => {
    const { burst } = addBurst();
    burst.send(teardownPacket);
    burst.writer.close();
    await burst.context.ended;
    expect(burst.writer.isPeerClosed()).toBe(true);
  });

  it("ends when it is closed: while it sleeps, or after the execution under way", async () => {
    const idle = addBurst();
    await new Promise((resolve) => setImmediate(resolve));
    await idle.burst.context.close();
    expect(idle.burst.writer.isPeerClosed()).toBe(true);
    const busy = addBurst();
    busy.burst.send(busy.packet);
    await Promise.resolve();
    const answer = busy.burst.receive();
    await busy.burst.context.close();
    await busy.burst.context.close();
    expect(elementAt(await answer, 0).kind).toBe("packetInformation");
  });

  it("releases memories once when no requests come, and fetches them again", async () => {
    const clock = manualClock();
    const memories = createMemorySlots();
    const getMemories = vi.spyOn(memories, "getMemories");
    const onIdle = vi.fn();
    const { burst, packet } = addBurst({ memories, timer: clock.timer, idleAfter: 100_000_000n, onIdle });
    await burst.ask(packet);
    clock.advance(100_000_000n);
    expect(onIdle).toHaveBeenCalledTimes(0);
    clock.advance(100_000_000n);
    expect(onIdle).toHaveBeenCalledTimes(1);
    // The watchdog finds nothing to watch.
    clock.advance(1_000_000_000n);
    expect(clock.waiting).toBe(0);
    await burst.ask(packet);
    expect(getMemories).toHaveBeenCalledTimes(2);
    await burst.context.close();
    expect(clock.waiting).toBe(0);
  });
});
