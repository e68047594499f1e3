/** Every wait of a burst ends: each fault of the other side, and the outcome when the limit is over. */
import { MessageChannel } from "node:worker_threads";
import { elementAt } from "@nnhal/operations";
import { type BurstResult, ErrorStatus, type IBurstContext } from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";
import { describe, expect, it, vi } from "vitest";
import { localSignal } from "../memory/signal.ts";
import type { BurstOptions } from "./burst.ts";
import { openChannel } from "./channel.ts";
import { type ConfigureExecutionBurst, createBurst } from "./controller.ts";
import { limitsOf } from "./limits.ts";
import { adder } from "./raw-burst.test-helper.ts";
import { writeResult } from "./result-codec.ts";
import { type RingReader, type RingWriter, ringReader, ringWriter } from "./ring.ts";
import { isSettled, never, secondClock, turn } from "./seconds.test-helper.ts";
import { configureExecutionBurst } from "./server.ts";
import { teardownPacket } from "./teardown.ts";
import { connectBurst, serveBurst } from "./threads.ts";

const { NONE, DEVICE_UNAVAILABLE, GENERAL_FAILURE, MISSED_DEADLINE_TRANSIENT } = ErrorStatus;
const shape = { dimensions: [1], isSufficient: true };

/** A burst whose service is a test. */
async function burstWith(context: IBurstContext = { freeMemory() {} }, options: BurstOptions = {}) {
  const clock = secondClock();
  const signal = localSignal();
  const service: { reader?: RingReader; writer?: RingWriter; words?: Int32Array } = {};
  const { burst, message } = await createBurst(
    (_callback, requestChannel, resultChannel) => {
      const requests = openChannel(requestChannel, "FmqRequestDatum");
      const results = openChannel(resultChannel, "FmqResultDatum");
      if ("noRing" in requests || "noRing" in results) throw new Error("no ring");
      service.reader = ringReader(requests, requestChannel.capacity, signal);
      service.writer = ringWriter(results, resultChannel.capacity, signal);
      service.words = results;
      return { status: NONE, context };
    },
    { signal, pollingWindow: 0, timer: clock.timer, ...options },
  );
  const { reader, writer, words } = service;
  if (burst === null || !reader || !writer || !words) throw new Error(message);
  return { burst, clock, signal, reader, writer, words };
}

const answer = writeResult({ status: NONE, outputShapes: [shape], timing: notMeasured });

describe("limits", () => {
  it.each([0n, -1n, 1000 as unknown as bigint, null as unknown as bigint])("of %s are not limits", async (limit) => {
    expect(() => limitsOf({ silenceLimit: limit })).toThrow(RangeError);
    expect(() => limitsOf({ requestLimit: limit })).toThrow(
      "the requestLimit of a burst: expected nanoseconds above 0 as a bigint, got",
    );
    await expect(createBurst(() => never(), { silenceLimit: limit })).rejects.toThrow(RangeError);
  });

  it("are 30 seconds and 10 minutes by default", () => {
    expect(limitsOf({})).toMatchObject({ silence: 30_000_000_000n, request: 600_000_000_000n });
  });
});

describe("a client whose service", () => {
  const { request, memory } = adder();

  it("shows no sign of life fails with DEVICE_UNAVAILABLE, and falls back from then on", async () => {
    const { burst, clock, reader, writer } = await burstWith();
    const under = burst.compute(request);
    await clock.pass(29);
    expect(await isSettled(under)).toBe(false);
    await clock.pass(3);
    expect(await under).toMatchObject({
      status: DEVICE_UNAVAILABLE,
      message: "no result came: the service has shown no sign of life for 30000 ms",
      fallback: false,
    });
    expect(await burst.compute(request)).toMatchObject({ status: GENERAL_FAILURE, fallback: true });
    // The service is notified, in case it wakes up.
    expect([reader.isPeerClosed(), writer.isPeerClosed()]).toEqual([true, true]);
    await burst.close();
    expect(clock.waiting).toBe(0);
  });

  it("signals can take longer, up to the limit of one request", async () => {
    const { burst, clock, writer } = await burstWith({ freeMemory() {} }, { requestLimit: 100_000_000_000n });
    const first = burst.compute(request);
    for (let second = 0; second < 90; second += 10) {
      await clock.pass(10);
      writer.beat();
    }
    writer.write(answer);
    expect(await first).toMatchObject({ status: NONE });
    const second = burst.compute(request);
    for (let second = 0; second < 110; second += 10) {
      await clock.pass(10);
      writer.beat();
    }
    expect(await second).toMatchObject({
      status: MISSED_DEADLINE_TRANSIENT,
      message: "no result came: no result came within 100000 ms",
      fallback: false,
    });
    expect(await burst.compute(request)).toMatchObject({ fallback: true });
    await burst.close();
  });

  it("answers at the last moment gets its answer taken", async () => {
    const { burst, clock, writer } = await burstWith();
    const under = burst.compute(request);
    await clock.pass(30);
    writer.write(answer);
    clock.advance(10_000_000_000n);
    expect(await under).toMatchObject({ status: NONE });
    await burst.close();
  });

  it("has a result queue with counters that make no sense fails, and falls back from then on", async () => {
    const { burst, words, signal, reader } = await burstWith();
    const under = burst.compute(request);
    await turn();
    const [tail, bell] = [16, 48];
    Atomics.store(words, tail, 123_456);
    signal.wake(words, bell);
    expect(await under).toMatchObject({
      status: GENERAL_FAILURE,
      message: "no result came: the result queue's counters are not valid",
      fallback: false,
    });
    expect(reader.isPeerClosed()).toBe(true);
    expect(await burst.compute(request)).toMatchObject({ fallback: true });
    await burst.close();
  });

  it("answers and ends before the answer is read has its answer taken", async () => {
    const { burst, writer } = await burstWith();
    const under = burst.compute(request);
    writer.write(answer);
    writer.close();
    writer.write(teardownPacket);
    expect(await under).toMatchObject({ status: NONE, fallback: false });
    expect(await burst.compute(request)).toMatchObject({ fallback: true });
    await burst.close();
  });

  it("does not answer freeMemory is given up", async () => {
    const { burst, clock, writer } = await burstWith({ freeMemory: () => never() });
    const under = burst.compute(request);
    writer.write(answer);
    await under;
    const freed = burst.freeMemory(memory);
    const next = burst.compute(request);
    await clock.pass(29);
    expect(await isSettled(freed)).toBe(false);
    await clock.pass(3);
    await freed;
    expect(await next).toMatchObject({
      fallback: true,
      message: "the burst cannot take the request: the service did not answer freeMemory within 30000 ms",
    });
    await burst.close();
  });

  it.each<[string, IBurstContext["freeMemory"]]>([
    ["throws", () => JSON.parse("no")],
    ["rejects", () => Promise.reject(new Error("gone"))],
  ])("%s in freeMemory is given up: its slot could stand for two memories", async (_how, freeMemory) => {
    const { burst, writer } = await burstWith({ freeMemory });
    const under = burst.compute(request);
    writer.write(answer);
    await under;
    await burst.freeMemory(memory);
    expect(await burst.compute(request)).toMatchObject({
      fallback: true,
      message: expect.stringContaining("failed to free a memory"),
    });
    await burst.close();
  });

  it("does not end, or fails to, does not keep close waiting", async () => {
    const { burst, clock } = await burstWith({ freeMemory() {}, close: () => never() });
    const closed = Promise.all([burst.close(), burst.close()]);
    await clock.pass(29);
    expect(await isSettled(closed)).toBe(false);
    await clock.pass(3);
    await closed;
    await burst.close();
    const throwing = await burstWith({ freeMemory() {}, close: () => JSON.parse("no") });
    await throwing.burst.close();
  });

  it("stalls does not keep close waiting", async () => {
    const { burst, clock } = await burstWith();
    const under = burst.compute(request);
    const closed = burst.close();
    await clock.pass(32);
    expect(await under).toMatchObject({ status: DEVICE_UNAVAILABLE });
    await closed;
  });

  it("does not start the burst is DEVICE_UNAVAILABLE, and closed if it starts one later", async () => {
    const clock = secondClock();
    let start: (result: BurstResult) => void = () => {};
    const configure: ConfigureExecutionBurst = () =>
      new Promise((resolve) => {
        start = resolve;
      });
    const created = createBurst(configure, { timer: clock.timer, silenceLimit: 2_000_000_000n });
    await clock.pass(4);
    expect(await created).toEqual({
      status: DEVICE_UNAVAILABLE,
      message: "starting a burst: there was no answer within 2000 ms",
      burst: null,
    });
    expect(clock.waiting).toBe(0);
    const close = vi.fn();
    start({ status: NONE, context: { freeMemory() {}, close } });
    await turn();
    expect(close).toHaveBeenCalledTimes(1);
  });

  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["a status that does not exist", { status: 99, context: null }],
    ["NONE and no context", { status: NONE }],
  ])("answers %s to the start is a failure", async (_what, wrong) => {
    const configure = vi.fn().mockResolvedValue(wrong);
    expect(await createBurst(configure)).toMatchObject({ status: GENERAL_FAILURE, burst: null });
  });

  it("sleeps through a request because its flag was overwritten fails with DEVICE_UNAVAILABLE", async () => {
    const clock = secondClock();
    const waiting = { signal: localSignal(), pollingWindow: 0, timer: clock.timer };
    const words: Int32Array[] = [];
    const { burst } = await createBurst(
      (callback, requests, results) => {
        const opened = openChannel(requests, "FmqRequestDatum");
        if (!("noRing" in opened)) words.push(opened);
        return configureExecutionBurst(adder().model, callback, requests, results, waiting);
      },
      { ...waiting, direct: false },
    );
    await turn();
    const readerSleeps = 34;
    Atomics.store(elementAt(words, 0), readerSleeps, 0);
    const under = burst?.compute(request);
    await clock.pass(32);
    expect(await under).toMatchObject({ status: DEVICE_UNAVAILABLE, fallback: false });
    await burst?.close();
  });
});

describe("between threads", () => {
  it("a port that is not served is DEVICE_UNAVAILABLE, and closed", async () => {
    const clock = secondClock();
    const { port1, port2 } = new MessageChannel();
    const closed = new Promise((resolve) => port2.once("close", resolve));
    port2.start();
    const connected = connectBurst(port1, { timer: clock.timer });
    await clock.pass(29);
    expect(await isSettled(connected)).toBe(false);
    await clock.pass(3);
    expect(await connected).toMatchObject({
      status: DEVICE_UNAVAILABLE,
      message: "starting a burst: there was no answer within 30000 ms",
      burst: null,
    });
    await closed;
  });

  it("a service that ends its burst closes the port, and the client's burst with it", async () => {
    const clock = secondClock();
    const { port1, port2 } = new MessageChannel();
    const { model, request } = adder();
    const memories = { timer: clock.timer, pollingWindow: 0 };
    const served = serveBurst(port1, model, memories);
    const words: Int32Array[] = [];
    const { burst } = await connectBurst(port2, {
      pollingWindow: 0,
      refuseMemory: () => undefined,
      signal: {
        wake(ring, index) {
          words.push(ring);
          Atomics.notify(ring, index);
        },
        sleep: () => new Promise((resolve) => setImmediate(resolve)),
      },
    });
    expect(await burst?.compute(request)).toMatchObject({ status: NONE });
    // The request queue is the only ring that the client has woken the other side of.
    const [tail, bell] = [16, 48];
    Atomics.store(elementAt(words, 0), tail, 123_456);
    Atomics.add(elementAt(words, 0), bell, 1);
    Atomics.notify(elementAt(words, 0), bell);
    await served.ended;
    expect(await burst?.compute(request)).toMatchObject({ fallback: true });
    await burst?.close();
  });
});
