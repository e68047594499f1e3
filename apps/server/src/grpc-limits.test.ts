/** Limits of calls and connections, each with a small number, at both of its sides; and the end of the server with calls that do not end. */
import { readFileSync } from "node:fs";
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { status } from "@grpc/grpc-js";
import { afterEach, describe, expect, it } from "vitest";
import { createBudget } from "./budget.ts";
import { RequestError } from "./errors.ts";
import { prefixOf } from "./grpc-frames.ts";
import { defaultLimits, type GrpcLimits } from "./grpc-limits.ts";
import type { Method } from "./grpc-method.ts";
import { createGrpcServer, type GrpcServer } from "./grpc-server.ts";

const servers: GrpcServer[] = [];
const sessions: ClientHttp2Session[] = [];
afterEach(() => {
  for (const session of sessions.splice(0)) session.destroy();
  for (const server of servers.splice(0)) server.destroy();
});

/** A server whose methods answer with what they get: /open, /kept (with a token), /stream, and /slow, which waits for `finish`. */
async function start(limits: Partial<GrpcLimits>, arrivalLimit = 600_000) {
  let finish = () => {};
  const slow = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const echo = { messageLimit: 1000, answer: async (message: Uint8Array) => message };
  const methods: Method[] = [
    { ...echo, path: "/open", isOpen: true },
    { ...echo, path: "/kept", isOpen: false },
    {
      ...{ ...echo, path: "/slow", isOpen: true },
      answer: async (message) => {
        await slow;
        return message;
      },
    },
    {
      ...{ path: "/stream", isOpen: true, messageLimit: 1000, messages: 2 },
      open: (call) => ({ message: (bytes) => call.send(bytes), half: () => call.end() }),
    },
  ];
  const server = createGrpcServer({
    ...{ methods, budget: createBudget(2 ** 20), arrivalLimit, connections: 100, tls: undefined, limits },
    authorize(header) {
      if (header !== "secret") throw new RequestError("unauthorized", "no");
    },
    onError(error) {
      throw error;
    },
  });
  servers.push(server);
  const port = await server.listen("127.0.0.1", 0);
  return { server, finish, connectClient: () => connectClient(port) };
}

/** A connection whose errors are ignored. */
async function connectClient(port: number) {
  const session = connect(`http://127.0.0.1:${port}`);
  sessions.push(session);
  session.on("error", () => {});
  await new Promise((resolve) => session.once("remoteSettings", resolve));
  const open = (path: string) => {
    const headers = { ":method": "POST", ":path": path, "content-type": "application/grpc", authorization: "secret" };
    return watch(session.request(headers));
  };
  /** Resolves when the server has read the earlier data. */
  const reach = (path: string) => open(path).send().end().whenEnded;
  return { session, open, reached: reach };
}

/** A call, with the data that it has received so far. */
function watch(stream: ClientHttp2Stream) {
  const got = { status: undefined as number | undefined, details: "", bytes: 0 };
  const take = (headers: Readonly<Record<string, unknown>>) => {
    if (headers["grpc-status"] === undefined) return;
    got.status = Number(headers["grpc-status"]);
    got.details = decodeURIComponent(String(headers["grpc-message"] ?? ""));
  };
  stream.on("error", () => {});
  stream.on("response", take);
  stream.on("trailers", take);
  stream.on("data", (chunk: Buffer) => {
    got.bytes += chunk.length;
  });
  const whenEnded = new Promise<typeof got>((resolve) => stream.once("close", () => resolve(got)));
  const call = {
    got,
    whenEnded,
    send() {
      stream.write(Buffer.concat([prefixOf(new Uint8Array(3)), new Uint8Array(3)]));
      return call;
    },
    end() {
      stream.end();
      return call;
    },
  };
  return call;
}

it("are by default those that SECURITY.md states", () => {
  const text = readFileSync(new URL("../../../SECURITY.md", import.meta.url), "utf8");
  const { arrivingOpen, streaming, callsOfConnection, arriving, closing } = defaultLimits;
  expect(text).toContain(`${arrivingOpen} that arrive, ${streaming} streams`);
  expect(text).toContain(`${callsOfConnection} streams for each connection`);
  expect(text).toContain(`${arriving} messages arrive at a time`);
  expect(text).toContain(`after SIGTERM it has ${closing / 1000} s to arrive`);
});

describe("of calls", () => {
  it.each([
    ["with a token", { arriving: 2 }, "/kept", "/open"],
    ["without a token", { arrivingOpen: 2 }, "/open", "/kept"],
  ])(
    "that arrive, %s: the one that has been arriving longest is ended for one too many",
    async (_, limits, path, other) => {
      const { connectClient } = await start(limits);
      const [one, two] = await Promise.all([connectClient(), connectClient()]);
      const first = one.open(path);
      await one.reached(other);
      const second = two.open(path);
      await two.reached(other);
      expect([first.got.status, second.got.status]).toEqual([undefined, undefined]);
      const third = one.open(path);
      expect(await first.whenEnded).toMatchObject({
        status: status.RESOURCE_EXHAUSTED,
        details: "2 calls were arriving, which are the most; this one for the longest time",
      });
      for (const call of [second, third]) {
        expect(await call.send().end().whenEnded).toMatchObject({ status: status.OK, bytes: 8 });
      }
      // Calls whose messages have arrived make room.
      const [fourth, fifth] = [one.open(path), one.open(path)];
      await one.reached(other);
      expect([fourth.got.status, fifth.got.status]).toEqual([undefined, undefined]);
    },
  );

  it("with streams: one too many is refused, until another has ended", async () => {
    const { connectClient } = await start({ streaming: 2 });
    const [one, two] = await Promise.all([connectClient(), connectClient()]);
    const [first, second] = [one.open("/stream").send(), two.open("/stream").send()];
    await expect.poll(() => [first.got.bytes, second.got.bytes]).toEqual([8, 8]);
    expect(await two.open("/stream").send().whenEnded).toMatchObject({
      status: status.RESOURCE_EXHAUSTED,
      details: "there are 2 calls with streams, which are the most",
    });
    expect(await first.end().whenEnded).toMatchObject({ status: status.OK });
    const third = two.open("/stream").send();
    await expect.poll(() => third.got.bytes).toBe(8);
    expect(second.got.status).toBeUndefined();
  });

  it("with streams: messages of each", async () => {
    const { connectClient } = await start({});
    const { open } = await connectClient();
    expect(await open("/stream").send().send().end().whenEnded).toMatchObject({ status: status.OK, bytes: 16 });
    expect(await open("/stream").send().send().send().whenEnded).toMatchObject({
      status: status.RESOURCE_EXHAUSTED,
      details: "a call takes 2 messages",
    });
  });

  it("of a connection: the client is told how many, and keeps one too many back", async () => {
    const { connectClient } = await start({ callsOfConnection: 2 });
    const [one, two] = await Promise.all([connectClient(), connectClient()]);
    expect(one.session.remoteSettings.maxConcurrentStreams).toBe(2);
    const first = one.open("/open");
    expect(await one.reached("/kept")).toMatchObject({ status: status.OK });
    const second = one.open("/open");
    const third = one.reached("/kept");
    let isReached = false;
    void third.then(() => {
      isReached = true;
    });
    await two.reached("/kept");
    expect(isReached).toBe(false);
    first.send().end();
    expect(await third).toMatchObject({ status: status.OK });
    expect(second.got.status).toBeUndefined();
  });
});

describe("of connections", () => {
  it("one without calls is closed when it has been idle; one with a call is not", async () => {
    const { connectClient } = await start({ idle: 100 });
    const used = await connectClient();
    const stream = used.open("/stream").send();
    await expect.poll(() => stream.got.bytes).toBe(8);
    const idle = await connectClient();
    const closed = new Promise((resolve) => idle.session.once("close", resolve));
    expect(await idle.reached("/open")).toMatchObject({ status: status.OK });
    await closed;
    stream.send();
    await expect.poll(() => stream.got.bytes).toBe(16);
    expect(used.session.closed).toBe(false);
  });

  it("one that makes no call in the time of arrival is ended; one that has made one is not", async () => {
    const { connectClient } = await start({}, 300);
    const used = await connectClient();
    expect(await used.reached("/open")).toMatchObject({ status: status.OK });
    const unused = await connectClient();
    await new Promise((resolve) => unused.session.once("close", resolve));
    expect(await used.reached("/open")).toMatchObject({ status: status.OK });
  });
});

describe("the end of the server", () => {
  it("gives up calls that wait for their client, and answers those that compute", async () => {
    const { server, finish, connectClient } = await start({ closing: 50 });
    const { open, reached } = await connectClient();
    const [arriving, open_, stream, computing] = [open("/kept"), open("/open"), open("/stream").send(), open("/slow")];
    computing.send().end();
    await reached("/kept");
    let isClosed = false;
    const closed = server.close().then(() => {
      isClosed = true;
    });
    const ended = await Promise.all([arriving, open_, stream].map(({ whenEnded }) => whenEnded));
    expect(ended.map((got) => got.status)).toEqual([status.UNAVAILABLE, status.UNAVAILABLE, status.UNAVAILABLE]);
    expect([isClosed, computing.got.status]).toEqual([false, undefined]);
    finish();
    expect(await computing.whenEnded).toMatchObject({ status: status.OK, bytes: 8 });
    await closed;
  });

  it("answers a message that arrives within its limit", async () => {
    const { server, connectClient } = await start({ closing: 600_000 });
    const { open, reached } = await connectClient();
    const arriving = open("/kept");
    await reached("/open");
    const closed = server.close();
    expect(await arriving.send().end().whenEnded).toMatchObject({ status: status.OK, bytes: 8 });
    await closed;
  });
});
