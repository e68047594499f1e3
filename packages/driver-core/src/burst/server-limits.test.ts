import { ErrorStatus, MeasureTiming, type PreparedModel } from "@nnhal/types";
import { describe, expect, it, vi } from "vitest";
import { requestData } from "./data.ts";
import { createLocalBurst } from "./local.ts";
import { createMemorySlots } from "./memory-slots.ts";
import { adder, rawBurst, result } from "./raw-burst.test-helper.ts";
import { writeRequest } from "./request-codec.ts";
import { isSettled, never, secondClock, turn } from "./seconds.test-helper.ts";

const { NONE, GENERAL_FAILURE, INVALID_ARGUMENT } = ErrorStatus;

describe("a service", () => {
  const packet = requestData(writeRequest({ inputs: [], outputs: [], pools: [] }, MeasureTiming.NO, []));

  it("whose client does not name its memories refuses the request, and asks again for the next one", async () => {
    const clock = secondClock();
    const { model, memory, request } = adder();
    const memories = createMemorySlots();
    const slot = memories.slotOf(memory, memory);
    const getMemories = vi.spyOn(memories, "getMemories").mockImplementationOnce(() => never());
    const log: string[] = [];
    const burst = rawBurst(model, { memories, timer: clock.timer, log: (message) => log.push(message) });
    const first = burst.ask(writeRequest(request, MeasureTiming.NO, [slot]));
    await clock.pass(32);
    expect(await first).toMatchObject({ status: INVALID_ARGUMENT });
    expect(log[0]).toContain("the client did not answer within 30000 ms");
    expect(await burst.ask(writeRequest(request, MeasureTiming.NO, [slot]))).toMatchObject({ status: NONE });
    expect(getMemories).toHaveBeenCalledTimes(2);
    await burst.context.close();
    expect(clock.waiting).toBe(0);
  });

  it("whose client throws, or answers nonsense, about its memories goes on", async () => {
    const { model, memory, request } = adder();
    const memories = createMemorySlots();
    const slot = memories.slotOf(memory, memory);
    const wrong = vi.spyOn(memories, "getMemories");
    wrong.mockImplementationOnce(() => JSON.parse("no")).mockImplementationOnce(() => JSON.parse("null"));
    wrong.mockImplementationOnce(() => JSON.parse('{"status":0}'));
    const burst = rawBurst(model, { memories });
    const ask = () => burst.ask(writeRequest(request, MeasureTiming.NO, [slot]));
    for (let count = 0; count < 3; count++) expect(await ask()).toMatchObject({ status: INVALID_ARGUMENT });
    expect(await ask()).toMatchObject({ status: NONE });
    await burst.context.close();
  });

  it("signals while it executes, gives up after the limit, and can be closed", async () => {
    const clock = secondClock();
    const log: string[] = [];
    const execute = vi.fn<PreparedModel["execute"]>(() => never());
    const burst = rawBurst(
      { execute },
      { timer: clock.timer, requestLimit: 5_000_000_000n, log: (line) => log.push(line) },
    );
    const pulses = new Set<number>();
    const first = burst.ask(packet);
    for (let second = 0; second < 4; second++) {
      await clock.pass(1);
      pulses.add(burst.pulse());
    }
    expect(pulses.size).toBe(4);
    await clock.pass(3);
    expect(await first).toMatchObject({ status: GENERAL_FAILURE });
    expect(log).toEqual(["the execution did not end within 5000 ms"]);
    burst.send(packet);
    await turn();
    const closed = burst.context.close();
    const freed = burst.context.freeMemory(0);
    await clock.pass(7);
    await Promise.all([closed, freed]);
    expect(clock.waiting).toBe(0);
  });

  it("whose client reads no results ends the burst", async () => {
    const clock = secondClock();
    const log: string[] = [];
    const burst = rawBurst(
      { execute: async () => result(NONE) },
      { resultCapacity: 2, timer: clock.timer, log: (line) => log.push(line) },
    );
    for (let count = 0; count < 2; count++) {
      burst.send(packet);
      await turn();
    }
    await clock.pass(29);
    expect(await isSettled(burst.context.ended)).toBe(false);
    await clock.pass(3);
    await burst.context.ended;
    expect(burst.writer.isPeerClosed()).toBe(true);
    expect(log.at(-1)).toBe("the client has taken no result for 30000 ms: the burst ends");
  });

  it("that executes directly gives up after the limit too, and can be closed", async () => {
    const clock = secondClock();
    const execute = vi.fn<PreparedModel["execute"]>(() => never());
    const { burst } = await createLocalBurst({ execute }, { timer: clock.timer, requestLimit: 5_000_000_000n });
    const { request, memory } = adder();
    const first = burst?.compute(request);
    const freed = burst?.freeMemory(memory);
    await clock.pass(7);
    expect(await first).toMatchObject({
      status: GENERAL_FAILURE,
      message: "the execution did not end within 5000 ms",
      fallback: false,
    });
    await freed;
    const second = burst?.compute(request);
    const closed = burst?.close();
    await clock.pass(7);
    expect(await second).toMatchObject({ status: GENERAL_FAILURE });
    await closed;
    expect(clock.waiting).toBe(0);
  });
});
