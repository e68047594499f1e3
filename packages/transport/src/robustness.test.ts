/** What a faulty or hostile peer can do to a server and to a client: nothing but end its own connection. */

import { createFence } from "@nnhal/driver-core/fence";
import { allocateMemory } from "@nnhal/driver-core/memory";
import { manualClock } from "@nnhal/test-kit/clock";
import { addModel } from "@nnhal/test-kit/models";
import { type Device, DeviceStatus, ErrorStatus } from "@nnhal/types";
import { encode } from "@nnhal/utils/codec";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { type Carrier, memoryCarriers, socketCarrier, type TakenFile, threadPassing } from "./carrier/index.ts";
import { connectDevice } from "./client/index.ts";
import { addRequest, connected, pairs, prepared, reconnecting, reference, socketPair } from "./ends.test-helper.ts";
import { FrameKind } from "./protocol/connection.ts";
import { handshakeFrame, hello, protocolVersion, welcome } from "./protocol/handshake.ts";
import { device as deviceMethods, notices } from "./protocol/methods.ts";
import { outcome } from "./protocol/values.ts";
import { serve } from "./server/index.ts";

const { NONE, INVALID_ARGUMENT, GENERAL_FAILURE, DEVICE_UNAVAILABLE, RESOURCE_EXHAUSTED_TRANSIENT } = ErrorStatus;
let device: Awaited<ReturnType<typeof reference>>;
beforeAll(async () => {
  device = await reference();
});

/** A frame: its kind, numbers of 32 bits, and what follows. */
function frame(kind: number, numbers: readonly number[], content: Uint8Array = new Uint8Array(0)): Uint8Array {
  const bytes = new Uint8Array(1 + 4 * numbers.length + content.length);
  const view = new DataView(bytes.buffer);
  bytes[0] = kind;
  numbers.forEach((number, index) => {
    view.setUint32(1 + 4 * index, number, true);
  });
  bytes.set(content, 1 + 4 * numbers.length);
  return bytes;
}

const greeting = handshakeFrame("hello", hello, { versions: [protocolVersion], service: "" });

/** A client of frames: what it sends, what it has received, and when the server has ended it. */
function rawClient(limits = {}) {
  const [client, server] = memoryCarriers();
  const served = serve(device, server, { limits });
  const received: Uint8Array[] = [];
  let over: string | undefined;
  client.start({
    frame: ({ bytes }) => received.push(bytes),
    closed(reason) {
      over = reason;
    },
  });
  return {
    ...{ client, served, received },
    isOver: () => over !== undefined,
    /** The next refusal: the call and its outcome. */
    async refusal() {
      await expect.poll(() => received.some(([kind]) => kind === FrameKind.refusal)).toBe(true);
      const bytes = received.find(([kind]) => kind === FrameKind.refusal) ?? new Uint8Array(0);
      const { buffer, byteOffset } = bytes;
      const status = new DataView(buffer, byteOffset).getInt32(5, true);
      return { status, message: new TextDecoder().decode(bytes.subarray(14)) };
    },
  };
}

describe("a server", () => {
  it("refuses an unknown method, a message that is called as a method, and arguments that are malformed", async () => {
    for (const [code, content, status, message] of [
      [999, new Uint8Array(0), GENERAL_FAILURE, "there is no method 999"],
      [notices.release.code, new Uint8Array(0), GENERAL_FAILURE, `there is no method ${notices.release.code}`],
      [deviceMethods.getType.code, Uint8Array.of(0), INVALID_ARGUMENT, "1 bytes are too many"],
      [deviceMethods.getSupportedOperations.code, Uint8Array.of(255, 255, 255, 255), INVALID_ARGUMENT, ".operands"],
    ] as const) {
      const { client, refusal, served } = rawClient();
      client.send(greeting);
      client.send(frame(FrameKind.call, [1, code, 0], content));
      const answer = await refusal();
      expect(answer.status).toBe(status);
      expect(answer.message).toContain(message);
      await served.close();
    }
  });

  it.each<[string, readonly Uint8Array[]]>([
    ["an empty frame", [new Uint8Array(0)]],
    ["a frame of an unknown kind", [Uint8Array.of(77)]],
    ["a greeting that is cut short", [greeting.subarray(0, 8)]],
    ["a greeting of another protocol", [frame(FrameKind.hello, [4], new TextEncoder().encode("HTTP"))]],
    ["two greetings", [greeting, greeting]],
    ["a call that is cut short", [greeting, frame(FrameKind.call, [1])]],
    ["a message that is cut short", [greeting, frame(FrameKind.notice, [notices.release.code, 0])]],
  ])("ends the connection after %s", async (_, frames) => {
    const { client, isOver, served } = rawClient();
    for (const one of frames) client.send(one);
    expect(await served.ended).toMatch(/malformed|has come/);
    await expect.poll(isOver).toBe(true);
  });

  it("refuses a client that speaks other versions, or wants another device, and says why", async () => {
    for (const [versions, service, why] of [
      [[protocolVersion + 1], "", `the service speaks version ${protocolVersion}`],
      [[], "", "of the protocol"],
      [[protocolVersion], "nnhal-other", "there is no device nnhal-other"],
    ] as const) {
      const { client, received, served } = rawClient();
      client.send(handshakeFrame("hello", hello, { versions, service }));
      await expect.poll(() => received.length).toBe(1);
      expect(new TextDecoder().decode(received[0])).toContain(why);
      await served.close();
    }
  });

  it("ends the connection of a client that says nothing", async () => {
    const [, server] = memoryCarriers();
    const clock = manualClock();
    const served = serve(device, server, { ...clock, connectLimit: 100n });
    clock.advance(100n);
    expect(await served.ended).toContain("has not said what it wants");
    expect(clock.waiting).toBe(0);
  });

  it("answers 100,000 random frames or ends the connection, and keeps nothing of them", async () => {
    const codes = [...Object.values(deviceMethods), ...Object.values(notices)].map(({ code }) => code);
    const random = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc
        .tuple(
          fc.constantFrom(FrameKind.call, FrameKind.notice, FrameKind.answer, FrameKind.refusal),
          fc.nat(3),
          fc.constantFrom(...codes, 20, 21, 22, 30, 31, 40, 50, 60),
          fc.nat(3),
          fc.uint8Array({ maxLength: 40 }),
        )
        .map(([kind, id, code, object, content]) => frame(kind, [id, code, object], content)),
    );
    const batches = fc.sample(fc.array(random, { minLength: 100, maxLength: 100 }), { numRuns: 1000, seed: 18 });
    for (const frames of batches) {
      const { client, served } = rawClient({ copiedBytes: 1000 });
      client.send(greeting);
      for (const one of frames) client.send(one);
      await served.close();
      expect(served.usage()).toEqual({ objects: 0, copiedBytes: 0 });
    }
  }, 60_000);

  it("limits what a client has", async () => {
    const [, pair] = pairs[0] ?? [];
    if (pair === undefined) throw new Error("no carrier");
    const { remote, served } = await connected(device, pair, { limits: { objects: 2, copiedBytes: 30, memories: 3 } });
    const models = [await prepared(remote, addModel([2])), await prepared(remote, addModel([2]))];
    expect(await remote.prepareModel(addModel([2]))).toMatchObject({
      status: RESOURCE_EXHAUSTED_TRANSIENT,
      message: "the client has 2 objects, which is the limit",
    });
    const [first] = models;
    expect((await first?.execute(addRequest(allocateMemory(24))))?.status).toBe(NONE);
    expect(await first?.execute(addRequest(allocateMemory(24)))).toMatchObject({
      status: RESOURCE_EXHAUSTED_TRANSIENT,
    });
    first?.close();
    await expect.poll(() => served.usage().objects).toBe(1);
    expect((await remote.prepareModel(addModel([2]))).status).toBe(NONE);
    remote.close();
  });

  it("limits calls under way", async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow: Device = {
      ...device,
      async getSupportedOperations(model) {
        await held;
        return device.getSupportedOperations(model);
      },
    };
    const [, pair] = pairs[0] ?? [];
    if (pair === undefined) throw new Error("no carrier");
    const { remote } = await connected(() => ({ device: slow }), pair, { limits: { calls: 5 } });
    const answers = Array.from({ length: 6 }, () => remote.getSupportedOperations(addModel([1])));
    expect(await answers[5]).toMatchObject({ status: RESOURCE_EXHAUSTED_TRANSIENT });
    release();
    for (const answer of answers.slice(0, 5)) expect((await answer).status).toBe(NONE);
    remote.close();
  });
});

describe.each(pairs)("a server over a carrier of kind %s", (_, pair) => {
  it("takes no further calls of a client that does not read its answers", async () => {
    const [client, server] = await pair();
    let calls = 0;
    const counting: Device = {
      ...device,
      getVersionString: () => {
        calls++;
        return { status: NONE, version: "x".repeat(20_000) };
      },
    };
    const served = serve(() => ({ device: counting }), server, { limits: { unreadBytes: 2 ** 21 } });
    const welcomed = new Promise<void>((resolve) => client.start({ frame: () => resolve(), closed: () => {} }));
    client.send(greeting);
    await welcomed;
    client.pause();
    for (let id = 1; id <= 200; id++) client.send(frame(FrameKind.call, [id, deviceMethods.getVersionString.code, 0]));
    await expect.poll(() => server.waiting, { timeout: 20_000 }).toBeGreaterThan(2 ** 21);
    const seen = calls;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(calls).toBe(seen);
    expect(calls).toBeLessThan(200);
    client.resume();
    await expect.poll(() => calls, { timeout: 20_000 }).toBe(200);
    client.close();
    await served.ended;
  });

  it("ends the connection after a frame over the limit, and before memory is taken for it", async () => {
    const [client, server] = await pair({ mostFrame: 1000 });
    const served = serve(device, server);
    expect(() => client.send(new Uint8Array(1001))).toThrow("1000 is the limit");
    client.start({ frame: () => {}, closed: () => {} });
    client.send(greeting);
    client.close();
    expect(await served.ended).toEqual(expect.any(String));
  });
});

describe("a socket", () => {
  it("that carries a frame over the limit is closed", async () => {
    const [client, server] = await socketPair();
    const served = serve(device, socketCarrier(server, { mostFrame: 1000 }));
    client.write(Uint8Array.of(233, 3, 0, 0));
    expect(await served.ended).toContain("a frame of 1001 bytes has come: 1000 is the limit");
  });

  it("that ends in a frame frees its client", async () => {
    const [client, server] = await socketPair();
    const served = serve(device, socketCarrier(server));
    client.write(Uint8Array.of(100, 0, 0, 0, 1, 2, 3));
    client.end();
    expect(await served.ended).toContain("closed the connection");
  });

  it("that delivers frames byte by byte delivers them", async () => {
    const [client, server] = await socketPair();
    const served = serve(device, socketCarrier(server));
    const answer = new Promise<Uint8Array>((resolve) => client.once("data", resolve));
    for (const byte of [greeting.length, 0, 0, 0, ...greeting]) client.write(Uint8Array.of(byte));
    expect((await answer)[4]).toBe(FrameKind.welcome);
    client.destroy();
    await served.ended;
  });
});

describe("a client", () => {
  const welcomed = handshakeFrame("welcome", welcome, {
    ...{ refusal: null, version: 1, name: "faulty", halVersion: "1.3", status: DeviceStatus.AVAILABLE },
    ...{ prepareModelFromCache: false, allocate: false },
  });

  /** A server that answers each call by frames. */
  function faulty(server: Carrier, answer: (id: number, code: number) => readonly Uint8Array[]): void {
    server.start({
      frame({ bytes }) {
        if (bytes[0] === FrameKind.hello) return server.send(welcomed);
        const view = new DataView(bytes.buffer, bytes.byteOffset);
        for (const one of answer(view.getUint32(1, true), view.getUint32(5, true))) server.send(one);
      },
      closed: () => {},
    });
  }

  it("reports an answer that is malformed, and one that is refused", async () => {
    for (const [content, kind, message] of [
      [Uint8Array.of(1), FrameKind.answer, "the answer is malformed"],
      [encode(outcome, { status: DEVICE_UNAVAILABLE, message: "not today" }), FrameKind.refusal, "not today"],
      // The call itself ends too.
      [Uint8Array.of(1), FrameKind.refusal, "a frame is malformed"],
    ] as const) {
      const [client, server] = memoryCarriers();
      faulty(server, (id) => [frame(kind, [id], content)]);
      expect(await connectDevice(client)).toEqual({ unavailable: expect.stringContaining(message) });
    }
  });

  it("is told by a server of another kind that it is one", async () => {
    const [client, server] = memoryCarriers();
    server.start({ frame: () => server.send(new TextEncoder().encode("HTTP/1.1 400")), closed: () => {} });
    expect(await connectDevice(client)).toEqual({ unavailable: expect.stringContaining("has come") });
  });

  it("gives up a server that does not greet", async () => {
    const [client] = memoryCarriers();
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
    const [client, server] = memoryCarriers();
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
    const [client, server] = memoryCarriers();
    const clock = manualClock();
    serve(() => ({ device: late }), server);
    const remote = await connectDevice(client, { ...clock, silenceLimit: 400n });
    if ("unavailable" in remote) throw new Error(remote.unavailable);
    const supported = remote.getSupportedOperations(addModel([1]));
    clock.advance(1_000_000n);
    answer();
    expect(await supported).toMatchObject({ status: NONE });
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
    serve(() => ({ device: fenced }), socketCarrier(server));
    const remote = await connectDevice(socketCarrier(client));
    if ("unavailable" in remote) throw new Error(remote.unavailable);
    const model = await prepared(remote, addModel([2]));
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
    const [client, server] = memoryCarriers();
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
    const model = await prepared(remote, addModel([2]));
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
    const [client, server] = memoryCarriers();
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

describe.each(pairs)("over a carrier of kind %s, a server that ends", (_, pair, passing) => {
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
      const { remote, served } = await connected(() => ({ device: stuck }), pair, { passing });
      const call = async () => {
        if (phase === "getSupportedOperations") return remote.getSupportedOperations(addModel([2]));
        if (phase === "prepareModel") return remote.prepareModel(addModel([2]));
        const model = await prepared(remote, addModel([2]));
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
    const { remote, servers } = await reconnecting(device);
    const model = await prepared(remote, addModel([2]));
    await servers[0]?.close();
    expect((await model.execute(addRequest(allocateMemory(24)))).status).toBe(DEVICE_UNAVAILABLE);
    expect(remote.getStatus()).toBe(DeviceStatus.OFFLINE);
    await expect.poll(() => remote.getStatus()).toBe(DeviceStatus.AVAILABLE);
    expect((await remote.getSupportedOperations(addModel([2]))).status).toBe(NONE);
    const again = await prepared(remote, addModel([2]));
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
    const dying = (): Device => ({
      ...device,
      getSupportedOperations: () => {
        void last?.close("it has died");
        return new Promise(() => {});
      },
    });
    let last: ReturnType<typeof serve> | undefined;
    const open = async (): Promise<Carrier> => {
      const [client, server] = memoryCarriers();
      opened++;
      last = serve(() => ({ device: dying() }), server);
      return client;
    };
    const remote = await connectDevice(await open(), { reconnect: open });
    if ("unavailable" in remote) throw new Error(remote.unavailable);
    expect((await remote.getSupportedOperations(addModel([2]))).status).toBe(DEVICE_UNAVAILABLE);
    expect(opened).toBe(2);
  });

  it("says why the service is not found again", async () => {
    const [client, server] = memoryCarriers();
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
    const [client, server] = memoryCarriers();
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
