/** Limits of a faulty or hostile client: it can only end its own connection. */

import { allocateMemory } from "@nnhal/driver-core/memory";
import { manualClock } from "@nnhal/test-kit/clock";
import { addModel } from "@nnhal/test-kit/models";
import { type Device, ErrorStatus } from "@nnhal/types";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { memoryChannels, socketChannel } from "./channel/index.ts";
import { addRequest, connectEnds, frame, pairs, prepare, reference, socketPair } from "./ends.test-helper.ts";
import { FrameKind } from "./protocol/frames.ts";
import { handshakeFrame, hello, protocolVersions } from "./protocol/handshake.ts";
import { device as deviceMethods, notices } from "./protocol/methods.ts";
import { serve } from "./server/index.ts";

const { NONE, INVALID_ARGUMENT, GENERAL_FAILURE, RESOURCE_EXHAUSTED_TRANSIENT } = ErrorStatus;
let device: Awaited<ReturnType<typeof reference>>;
beforeAll(async () => {
  device = await reference();
});

const greeting = handshakeFrame("hello", hello, { versions: protocolVersions, service: "" });

/** A client that sends raw frames, and records the received ones and the end of its connection. */
function rawClient(limits = {}) {
  const [client, server] = memoryChannels();
  const served = serve(device, server, { limits });
  const received: Uint8Array[] = [];
  let over: string | undefined;
  client.start({
    frame: ({ bytes }) => received.push(bytes),
    onClose(reason) {
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
    expect(await served.ended).toMatch(/malformed|received/);
    await expect.poll(isOver).toBe(true);
  });

  it("refuses a client that speaks other versions, or wants another device, and says why", async () => {
    for (const [versions, service, why] of [
      [[3], "", "the service speaks versions 1, 2 of the protocol, the client 3"],
      [[], "", "of the protocol"],
      [protocolVersions, "nnhal-other", "there is no device nnhal-other"],
    ] as const) {
      const { client, received, served } = rawClient();
      client.send(handshakeFrame("hello", hello, { versions, service }));
      await expect.poll(() => received.length).toBe(1);
      expect(new TextDecoder().decode(received[0])).toContain(why);
      await served.close();
    }
  });

  it("ends the connection of a client that says nothing", async () => {
    const [, server] = memoryChannels();
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
    if (pair === undefined) throw new Error("no channel");
    const { remote, served } = await connectEnds(device, pair, {
      limits: { objects: 2, copiedBytes: 30, memories: 3 },
    });
    const models = [await prepare(remote, addModel([2])), await prepare(remote, addModel([2]))];
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
    if (pair === undefined) throw new Error("no channel");
    const { remote } = await connectEnds(() => ({ device: slow }), pair, { limits: { calls: 5 } });
    const answers = Array.from({ length: 6 }, () => remote.getSupportedOperations(addModel([1])));
    expect(await answers[5]).toMatchObject({ status: RESOURCE_EXHAUSTED_TRANSIENT });
    release();
    for (const answer of answers.slice(0, 5)) expect((await answer).status).toBe(NONE);
    remote.close();
  });
});

describe.each(pairs)("a server over a channel of kind %s", (_, pair) => {
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
    const welcomed = new Promise<void>((resolve) => client.start({ frame: () => resolve(), onClose: () => {} }));
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
    client.start({ frame: () => {}, onClose: () => {} });
    client.send(greeting);
    client.close();
    expect(await served.ended).toEqual(expect.any(String));
  });
});

describe("a socket", () => {
  it("that carries a frame over the limit is closed", async () => {
    const [client, server] = await socketPair();
    const served = serve(device, socketChannel(server, { mostFrame: 1000 }));
    client.write(Uint8Array.of(233, 3, 0, 0));
    expect(await served.ended).toContain("received a frame of 1001 bytes, more than the limit of 1000");
  });

  it("that ends in a frame frees its client", async () => {
    const [client, server] = await socketPair();
    const served = serve(device, socketChannel(server));
    client.write(Uint8Array.of(100, 0, 0, 0, 1, 2, 3));
    client.end();
    expect(await served.ended).toContain("closed the connection");
  });

  it("that delivers frames byte by byte delivers them", async () => {
    const [client, server] = await socketPair();
    const served = serve(device, socketChannel(server));
    const answer = new Promise<Uint8Array>((resolve) => client.once("data", resolve));
    for (const byte of [greeting.length, 0, 0, 0, ...greeting]) client.write(Uint8Array.of(byte));
    expect((await answer)[4]).toBe(FrameKind.welcome);
    client.destroy();
    await served.ended;
  });
});
