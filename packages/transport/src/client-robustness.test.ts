/** Limits of a faulty, hostile or lost server: it can only end the connection; and a device finds its service again. */

import { createFence } from "@nnhal/driver-core/fence";
import { allocateMemory } from "@nnhal/driver-core/memory";
import { manualClock } from "@nnhal/test-kit/clock";
import { addModel } from "@nnhal/test-kit/models";
import { type Device, DeviceStatus, ErrorStatus } from "@nnhal/types";
import { encode } from "@nnhal/utils/codec";
import { beforeAll, describe, expect, it } from "vitest";
import { type Channel, memoryChannels, socketChannel, type TakenFile, threadPassing } from "./channel/index.ts";
import { connectDevice } from "./client/index.ts";
import {
  addRequest,
  connectEnds,
  frame,
  makeReconnecting,
  pairs,
  prepare,
  reference,
  socketPair,
} from "./ends.test-helper.ts";
import { FrameKind } from "./protocol/frames.ts";
import { handshakeFrame, welcome } from "./protocol/handshake.ts";
import { notices } from "./protocol/methods.ts";
import { outcome } from "./protocol/values.ts";
import { serve } from "./server/index.ts";

const { NONE, DEVICE_UNAVAILABLE } = ErrorStatus;
let device: Awaited<ReturnType<typeof reference>>;
beforeAll(async () => {
  device = await reference();
});

describe("a client", () => {
  const welcomed = handshakeFrame("welcome", welcome, {
    ...{ refusal: null, version: 1, name: "faulty", halVersion: "1.3", status: DeviceStatus.AVAILABLE },
    ...{ prepareModelFromCache: false, allocate: false },
  });

  /** A server that answers each call by frames. */
  function faulty(server: Channel, answer: (id: number, code: number) => readonly Uint8Array[]): void {
    server.start({
      frame({ bytes }) {
        if (bytes[0] === FrameKind.hello) return server.send(welcomed);
        const view = new DataView(bytes.buffer, bytes.byteOffset);
        for (const one of answer(view.getUint32(1, true), view.getUint32(5, true))) server.send(one);
      },
      onClose: () => {},
    });
  }

  it("reports an answer that is malformed, and one that is refused", async () => {
    for (const [content, kind, message] of [
      [Uint8Array.of(1), FrameKind.answer, "the answer is malformed"],
      [encode(outcome, { status: DEVICE_UNAVAILABLE, message: "not today" }), FrameKind.refusal, "not today"],
      // The call itself ends too.
      [Uint8Array.of(1), FrameKind.refusal, "a frame is malformed"],
    ] as const) {
      const [client, server] = memoryChannels();
      faulty(server, (id) => [frame(kind, [id], content)]);
      expect(await connectDevice(client)).toEqual({ unavailable: expect.stringContaining(message) });
    }
  });

  it("is told by a server of another kind that it is one", async () => {
    const [client, server] = memoryChannels();
    server.start({ frame: () => server.send(new TextEncoder().encode("HTTP/1.1 400")), onClose: () => {} });
    expect(await connectDevice(client)).toEqual({ unavailable: expect.stringContaining("received") });
  });

  it("gives up a server that does not greet", async () => {
    const [client] = memoryChannels();
    const clock = manualClock();
    const connecting = connectDevice(client, { ...clock, connectLimit: 1_000_000n });
    clock.advance(1_000_000n);
    expect(await connecting).toEqual({ unavailable: expect.stringContaining("has not answered within 1 ms") });
    expect(clock.waiting).toBe(0);
  });

  it("gives up a server that is silent while a call waits, and not one that answers pings", async () => {
    const never = new Promise<never>(() => {});
    const silent: Device = { ...device, getSupportedOperations: () => never };
    const clock = manualClock();
    const [client, server] = memoryChannels();
    serve(() => ({ device: silent }), server, { ...clock });
    const remote = await connectDevice(client, { ...clock, silenceLimit: 400n });
    if ("unavailable" in remote) throw new Error(remote.unavailable);
    const answer = remote.getSupportedOperations(addModel([1]));
    for (let step = 0; step < 40; step++) {
      clock.advance(100n);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(remote.getStatus()).toBe(DeviceStatus.AVAILABLE);
    // From here on the server reads nothing.
    server.pause();
    for (let step = 0; step < 5; step++) clock.advance(100n);
    expect(await answer).toMatchObject({
      status: DEVICE_UNAVAILABLE,
      message: expect.stringContaining("sign of life"),
    });
    expect(remote.getStatus()).toBe(DeviceStatus.OFFLINE);
  });

  it("does not give up a server because its own process was stopped for long", async () => {
    let answer = () => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const late: Device = {
      ...device,
      async getSupportedOperations(model) {
        await held;
        return device.getSupportedOperations(model);
      },
    };
    const [client, server] = memoryChannels();
    const clock = manualClock();
    serve(() => ({ device: late }), server);
    const remote = await connectDevice(client, { ...clock, silenceLimit: 400n });
    if ("unavailable" in remote) throw new Error(remote.unavailable);
    const supported = remote.getSupportedOperations(addModel([1]));
    clock.advance(1_000_000n);
    answer();
    expect(clock.waiting).toBe(1);
    expect(await supported).toMatchObject({ status: NONE });
    // A timer would keep the process alive.
    expect(clock.waiting).toBe(0);
    remote.close();
  });

  it("is told of the end of a fence that comes in one piece with the answer that names it", async () => {
    const [client, server] = await socketPair();
    const ends: (() => void)[] = [];
    const notAsked = new Promise<never>(() => {});
    const fenced: Device = {
      ...device,
      async prepareModel(model, options) {
        const { preparedModel, ...outcome } = await device.prepareModel(model, options);
        if (preparedModel === null) return { ...outcome, preparedModel };
        const executeFenced: NonNullable<typeof preparedModel.executeFenced> = async () => {
          const { fence, fail } = createFence();
          // Outputs, which come before the end, are not sent then.
          ends.push(fail);
          return { status: NONE, syncFence: fence, callback: { getExecutionInfo: () => notAsked } };
        };
        return { ...outcome, preparedModel: { ...preparedModel, executeFenced } };
      },
    };
    serve(() => ({ device: fenced }), socketChannel(server));
    const remote = await connectDevice(socketChannel(client));
    if ("unavailable" in remote) throw new Error(remote.unavailable);
    const model = await prepare(remote, addModel([2]));
    // The client reads nothing until both have been written.
    client.pause();
    const launching = model.executeFenced?.(addRequest(allocateMemory(24)), []);
    await expect.poll(() => ends.length).toBe(1);
    for (const end of ends) end();
    await new Promise((resolve) => setTimeout(resolve, 20));
    client.resume();
    const launched = await launching;
    expect(await launched?.syncFence?.wait()).toBe("ERROR");
    remote.close();
  });

  it("is told of the end of a burst that comes in one piece with the answer that names it", async () => {
    const [client, server] = memoryChannels();
    let configured = 0;
    const ending: Device = {
      ...device,
      async prepareModel(model, options) {
        const { preparedModel, ...outcome } = await device.prepareModel(model, options);
        if (preparedModel === null) return { ...outcome, preparedModel };
        const configureExecutionBurst: NonNullable<typeof preparedModel.configureExecutionBurst> = async () => {
          configured++;
          return { status: NONE, context: { freeMemory() {}, close() {}, ended: Promise.resolve() } };
        };
        return { ...outcome, preparedModel: { ...preparedModel, configureExecutionBurst } };
      },
    };
    const served = serve(() => ({ device: ending }), server, { passing: threadPassing });
    const remote = await connectDevice(client, { passing: threadPassing });
    if ("unavailable" in remote) throw new Error(remote.unavailable);
    const model = await prepare(remote, addModel([2]));
    // The client reads nothing until both have been sent.
    client.pause();
    const memory = allocateMemory(4096);
    const configuring = model.configureExecutionBurst?.(
      null,
      { datum: "FmqRequestDatum", memory, capacity: 16 },
      { datum: "FmqResultDatum", memory, capacity: 16 },
    );
    await expect.poll(() => configured).toBe(1);
    await expect.poll(() => served.usage().objects).toBe(2);
    await new Promise(setImmediate);
    client.resume();
    const answer = await configuring;
    expect(answer?.status).toBe(NONE);
    await answer?.context?.close?.();
    remote.close();
  });

  it("does not close because of answers and messages that it does not expect", async () => {
    const [client, server] = memoryChannels();
    const served = serve(device, server);
    const remote = await connectDevice(client);
    if ("unavailable" in remote) throw new Error(remote.unavailable);
    server.send(frame(FrameKind.answer, [12345]));
    server.send(frame(FrameKind.notice, [9999, 0]));
    server.send(frame(FrameKind.notice, [notices.burstEnded.code, 0, 4]));
    expect((await remote.getSupportedOperations(addModel([1]))).status).toBe(NONE);
    remote.close();
    await served.ended;
  });
});

describe.each(pairs)("over a channel of kind %s, a server that ends", (_, pair, passing) => {
  it.each(["getSupportedOperations", "prepareModel", "execute", "copyFrom"] as const)(
    "during %s ends the call with DEVICE_UNAVAILABLE",
    async (phase) => {
      let isReached = false;
      /** Never answers. */
      const stay = (): Promise<never> => {
        isReached = true;
        return new Promise(() => {});
      };
      const own = device.connect();
      const stuck: Device = {
        ...own,
        getSupportedOperations: phase === "getSupportedOperations" ? stay : own.getSupportedOperations,
        async prepareModel(model, options) {
          if (phase === "prepareModel") return stay();
          const answer = await own.prepareModel(model, options);
          if (answer.preparedModel === null || phase !== "execute") return answer;
          return { ...answer, preparedModel: { ...answer.preparedModel, execute: stay } };
        },
        async allocate(...given) {
          const answer = await own.allocate(...given);
          return answer.buffer === null ? answer : { ...answer, buffer: { ...answer.buffer, copyFrom: stay } };
        },
      };
      const { remote, served } = await connectEnds(() => ({ device: stuck }), pair, { passing });
      const call = async () => {
        if (phase === "getSupportedOperations") return remote.getSupportedOperations(addModel([2]));
        if (phase === "prepareModel") return remote.prepareModel(addModel([2]));
        const model = await prepare(remote, addModel([2]));
        if (phase === "execute") return model.execute(addRequest(allocateMemory(24)));
        const role = { modelIndex: 0, ioIndex: 0, frequency: 1 };
        const allocated = await remote.allocate?.({ dimensions: [] }, [model], [role], []);
        return allocated?.buffer?.copyFrom(allocateMemory(8), []);
      };
      const answer = call();
      await expect.poll(() => isReached, { timeout: 20_000 }).toBe(true);
      await served.close();
      expect(await answer).toMatchObject({
        status: DEVICE_UNAVAILABLE,
        message: expect.stringContaining("DEAD_OBJECT"),
      });
      await own.close();
    },
  );
});

describe("a device that finds its service again", () => {
  it("makes a call of the device once more, and leaves prepared models unusable", async () => {
    const { remote, servers } = await makeReconnecting(device);
    const model = await prepare(remote, addModel([2]));
    await servers[0]?.close();
    expect((await model.execute(addRequest(allocateMemory(24)))).status).toBe(DEVICE_UNAVAILABLE);
    expect(remote.getStatus()).toBe(DeviceStatus.OFFLINE);
    await expect.poll(() => remote.getStatus()).toBe(DeviceStatus.AVAILABLE);
    expect((await remote.getSupportedOperations(addModel([2]))).status).toBe(NONE);
    const again = await prepare(remote, addModel([2]));
    expect((await again.execute(addRequest(allocateMemory(24)))).status).toBe(NONE);
    expect((await model.execute(addRequest(allocateMemory(24)))).status).toBe(DEVICE_UNAVAILABLE);
    model.close();
    expect(servers).toHaveLength(2);
    remote.close();
    expect(await remote.lost).toBeDefined();
    expect((await remote.prepareModel(addModel([2]))).status).toBe(DEVICE_UNAVAILABLE);
    expect(servers).toHaveLength(2);
  });

  it("does not repeat a call more than once", async () => {
    let opened = 0;
    const makeDying = (): Device => ({
      ...device,
      getSupportedOperations: () => {
        void last?.close("it has died");
        return new Promise(() => {});
      },
    });
    let last: ReturnType<typeof serve> | undefined;
    const open = async (): Promise<Channel> => {
      const [client, server] = memoryChannels();
      opened++;
      last = serve(() => ({ device: makeDying() }), server);
      return client;
    };
    const remote = await connectDevice(await open(), { reconnect: open });
    if ("unavailable" in remote) throw new Error(remote.unavailable);
    expect((await remote.getSupportedOperations(addModel([2]))).status).toBe(DEVICE_UNAVAILABLE);
    expect(opened).toBe(2);
  });

  it("says why the service is not found again", async () => {
    const [client, server] = memoryChannels();
    const served = serve(device, server);
    const remote = await connectDevice(client, { reconnect: async () => ({ unavailable: "no such socket" }) });
    if ("unavailable" in remote) throw new Error(remote.unavailable);
    await served.close();
    const answer = await remote.prepareModel(addModel([2]));
    expect(answer).toMatchObject({ status: DEVICE_UNAVAILABLE, message: expect.stringContaining("no such socket") });
  });
});

describe("the files of a cache", () => {
  it.each([
    ["all can be used", 0],
    ["the first cannot be used", 1],
  ])("are closed after the call if %s", async (_, refusals) => {
    const [client, server] = memoryChannels();
    const taken: number[] = [];
    const closed: number[] = [];
    const takeFile = (id: number): TakenFile | { readonly refused: string } => {
      taken.push(id);
      return taken.length <= refusals ? { refused: "no" } : { fd: id, close: () => closed.push(id) };
    };
    const caching: Device = {
      ...device,
      getNumberOfCacheFilesNeeded: () => ({ status: NONE, numModelCache: 1, numDataCache: 2 }),
      prepareModel: (model, options) => device.prepareModel(model, { ...options, cache: undefined }),
    };
    serve(() => ({ device: caching }), server, { passing: (onUnused) => ({ ...threadPassing(onUnused), takeFile }) });
    const remote = await connectDevice(client, { passing: threadPassing });
    if ("unavailable" in remote) throw new Error(remote.unavailable);
    const cache = { modelCache: [{ fds: [11] }], dataCache: [{ fds: [12] }, { fds: [13] }], token: new Uint8Array(32) };
    expect((await remote.prepareModel(addModel([2]), { cache })).status).toBe(NONE);
    // Those that are not used have come all the same: no later call takes them.
    expect(taken).toEqual([11, 12, 13]);
    expect(closed).toEqual([11, 12, 13].slice(refusals));
    remote.close();
  });
});
