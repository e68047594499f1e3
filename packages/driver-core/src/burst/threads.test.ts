import { MessageChannel, type MessagePort } from "node:worker_threads";
import { elementAt } from "@nnhal/operations";
import { ErrorStatus, type Memory, type Request } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { memoryOf } from "../memory/memory.ts";
import { blockingSignal } from "../memory/signal.ts";
import type { BurstController, BurstOptions } from "./burst.ts";
import { createCalls } from "./calls.ts";
import { adder } from "./raw-burst.test-helper.ts";
import { startWorker } from "./start-worker.test-helper.ts";
import { connectBurst, serveBurst } from "./threads.ts";

const { NONE, DEVICE_UNAVAILABLE, GENERAL_FAILURE, INVALID_ARGUMENT } = ErrorStatus;

/** A burst served in a worker. */
async function burstInWorker(service: object = {}, options: BurstOptions = {}) {
  const { port1, port2 } = new MessageChannel();
  const workerData = { port: port2, pollingWindow: 0, ...service };
  const { worker, ended } = startWorker(new URL("./burst.test-worker.ts", import.meta.url), workerData, [port2]);
  const { burst, message } = await connectBurst(port1, { pollingWindow: 0, ...options });
  if (burst === null) throw new Error(message);
  return { burst, worker, ended };
}

async function add(
  burst: BurstController,
  values: Float32Array,
  request: Request,
  left: number,
  right: number,
): Promise<number> {
  values.set([left, right, Number.NaN]);
  const { status, message } = await burst.compute(request);
  if (status !== NONE) throw new Error(message);
  return elementAt(values, 2);
}

describe("a burst between two threads", { timeout: 60_000 }, () => {
  it.each<[string, object, BurstOptions]>([
    ["sleep", {}, {}],
    ["poll", { pollingWindow: 50 }, { pollingWindow: 50 }],
    ["block", { signal: "block" }, { signal: blockingSignal() }],
    ["sleep and block", { signal: "block" }, {}],
  ])("executes many requests with memories that come and go, if the sides %s", async (_how, service, options) => {
    const { burst, ended } = await burstInWorker(service, options);
    const adders = [adder(), adder(), adder()];
    for (let count = 0; count < 300; count++) {
      const { request, values, memory } = elementAt(adders, count % adders.length);
      expect(await add(burst, values, request, count, 1)).toBe(count + 1);
      // The slot is used by the next memory: results would land in the old one if the service still knew it.
      if (count % 3 === 1) await burst.freeMemory(memory);
    }
    await burst.close();
    // Nothing keeps the worker alive once the burst is closed.
    expect(await ended).toBe(0);
  });

  it("executes requests of callers that do not wait for each other", async () => {
    const { burst, ended } = await burstInWorker({ pollingWindow: 50 }, { pollingWindow: 50 });
    const adders = Array.from({ length: 16 }, adder);
    for (let round = 0; round < 20; round++) {
      adders.forEach(({ values }, index) => {
        values.set([index, round, Number.NaN]);
      });
      const answers = await Promise.all(adders.map(({ request }) => burst.compute(request)));
      expect(answers.map(({ status }) => status)).toEqual(adders.map(() => NONE));
      expect(adders.map(({ values }) => values[2])).toEqual(adders.map((_, index) => index + round));
    }
    await burst.close();
    expect(await ended).toBe(0);
  });

  it("falls back if the other thread could not see a memory", async () => {
    const { burst, ended } = await burstInWorker();
    const { request, values } = adder();
    const own: Memory = memoryOf(new Uint8Array(12));
    expect(await burst.compute({ ...request, pools: [{ kind: "memory", memory: own }] })).toMatchObject({
      status: GENERAL_FAILURE,
      fallback: true,
      message: expect.stringContaining("SharedArrayBuffer"),
    });
    expect(await add(burst, values, request, 1, 2)).toBe(3);
    await burst.close();
    expect(await ended).toBe(0);
  });

  it.each<[string, BurstOptions]>([
    ["sleeping", {}],
    ["blocking", { signal: blockingSignal() }],
  ])("fails the request under way when the service's thread dies, with a client that is %s", async (_how, options) => {
    const { burst, worker } = await burstInWorker({ stall: true }, options);
    const { request } = adder();
    const under = burst.compute(request);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await worker.terminate();
    expect(await under).toMatchObject({ status: DEVICE_UNAVAILABLE, fallback: false });
    expect(await burst.compute(request)).toMatchObject({ status: GENERAL_FAILURE, fallback: true });
    await burst.close();
  });

  it("ends the service when the client's thread dies", async () => {
    const { port1, port2 } = new MessageChannel();
    const served = serveBurst(port1, adder().model, { pollingWindow: 0 });
    const { worker } = startWorker(new URL("./burst-client.test-worker.ts", import.meta.url), { port: port2 }, [port2]);
    await new Promise((resolve) => worker.once("message", resolve));
    await worker.terminate();
    await served.ended;
  });

  it("ends the client's burst when the service is closed", async () => {
    const { port1, port2 } = new MessageChannel();
    const served = serveBurst(port1, adder().model, { pollingWindow: 0 });
    const { burst } = await connectBurst(port2, { pollingWindow: 0 });
    const { request, values } = adder();
    if (burst === null) throw new Error("no burst");
    expect(await add(burst, values, request, 4, 5)).toBe(9);
    await served.close();
    expect(await burst.compute(request)).toMatchObject({ status: GENERAL_FAILURE, fallback: true });
    await burst.close();
  });
});

describe("the service's port", () => {
  async function ask(method: string, argument: unknown, before?: (port: MessagePort) => void): Promise<unknown> {
    const { port1, port2 } = new MessageChannel();
    const served = serveBurst(port1, adder().model, { pollingWindow: 0 });
    before?.(port2);
    const calls = createCalls(port2, {}, { keepAlive: false });
    try {
      return await calls.call(method, argument);
    } finally {
      calls.close();
      await served.ended;
    }
  }

  it.each([
    undefined,
    null,
    5,
    {},
    { requestChannel: null, resultChannel: 1 },
    { requestChannel: { memory: { name: "ashmem", size: 5, handle: null }, capacity: 8 } },
    { requestChannel: { memory: { name: "ashmem", size: 5 }, capacity: "8" } },
    {
      requestChannel: {
        memory: { name: "ashmem", size: 600, handle: { kind: "buffer", buffer: "none" } },
        capacity: 8,
      },
    },
  ])("answers channels that are none with INVALID_ARGUMENT: %j", async (argument) => {
    expect(await ask("configureExecutionBurst", argument)).toMatchObject({ status: INVALID_ARGUMENT });
  });

  it("ignores messages that are not calls, and invalid slots", async () => {
    const garbage = (port: MessagePort) => {
      for (const message of [null, 3, "x", {}, { id: "a" }, { answers: 77, value: 1 }, { id: 1 }])
        port.postMessage(message);
    };
    expect(await ask("freeMemory", "slot", garbage)).toBeUndefined();
    expect(await ask("freeMemory", 7)).toBeUndefined();
  });

  it.each(["toString", "execute"])("has no method %s", async (method) => {
    await expect(ask(method, 0)).rejects.toThrow(`there is no method ${method}`);
  });

  it("has one burst", async () => {
    const { port1, port2 } = new MessageChannel();
    const served = serveBurst(port1, adder().model, { pollingWindow: 0 });
    const { burst } = await connectBurst(port2, { pollingWindow: 0 });
    const second = await connectBurst(port2, { pollingWindow: 0 });
    expect(second).toMatchObject({ status: INVALID_ARGUMENT, message: "the port has a burst", burst: null });
    await burst?.close();
    await served.ended;
  });

  it("is closed for good when the other side is: calls fail at once", async () => {
    const { port1, port2 } = new MessageChannel();
    const calls = createCalls(port1, {}, { keepAlive: false });
    const under = calls.call("anything", 0);
    port2.close();
    await expect(under).rejects.toThrow("the other side is gone");
    await expect(calls.call("anything", 0)).rejects.toThrow("the other side is gone");
    await expect(connectBurst(port1)).resolves.toMatchObject({ status: DEVICE_UNAVAILABLE, burst: null });
    await serveBurst(port2, adder().model).ended;
  });
});
