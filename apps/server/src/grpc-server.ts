/**
 * gRPC over HTTP/2: connections, calls, and the frames of their messages, with limits for each of them and for all together. A caller is authorised
 * before a byte of its message is read. See decision 0170.
 */
import {
  constants,
  createSecureServer,
  createServer,
  type Http2Server,
  type Http2Session,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import { type Coding, type Collector, codings, createCollector, isCoding, unpack } from "./body.ts";
import type { Budget, Holding } from "./budget.ts";
import { publicMessageOf, RequestError } from "./errors.ts";
import { encodeDetails, status } from "./grpc-status.ts";

/** A call that has been authorised. */
export interface Call {
  readonly headers: IncomingHttpHeaders;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
  /** Milliseconds that the client still waits; undefined: it does not say. */
  timeLeft(): number | undefined;
  /** What the call holds, which it gives back when its answer is taken. */
  readonly holding: Holding;
}

/** The side of the server of a call whose messages are not one and one. */
export interface StreamCall extends Call {
  send(message: Uint8Array): void;
  /** Ends the call; with an error, by its status. Later calls are ignored. */
  end(error?: unknown): void;
}

interface MethodBase {
  /** Such as `/inference.GRPCInferenceService/ModelInfer`. */
  readonly path: string;
  /** Whether it needs no token. */
  readonly isOpen: boolean;
  /** The most bytes of a message. */
  readonly messageLimit: number;
}

/** A method with one message and one answer. */
export interface UnaryMethod extends MethodBase {
  answer(message: Uint8Array<ArrayBuffer>, call: Call): Promise<Uint8Array>;
}

/** A method with streams. */
export interface StreamMethod extends MethodBase {
  /** The most messages of a call. */
  readonly messages: number;
  open(call: StreamCall): { message(bytes: Uint8Array): void /** The client sends no more. */; half(): void };
}

export type Method = UnaryMethod | StreamMethod;

export interface GrpcServerOptions {
  readonly methods: readonly Method[];
  readonly budget: Budget;
  /** Milliseconds in which a message must arrive, and its answer be taken. */
  readonly arrivalLimit: number;
  /** The most connections. */
  readonly connections: number;
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  /** Throws a RequestError if a client must not call. */
  authorize(header: string | undefined): void;
  /** Errors of the server itself. */
  onError(error: unknown): void;
}

export interface GrpcServer {
  /** Resolves with the port. */
  listen(host: string, port: number): Promise<number>;
  /** Takes no more calls, and lets those end that are there; what has not arrived in `closingLimit` is given up. */
  close(): Promise<void>;
  /** Ends all connections. */
  destroy(): void;
}

/** Calls of one connection at a time. */
const streamsOfConnection = 128;
/** Calls whose messages arrive, of all connections together; the one that has been arriving longest is ended for a new one. */
const arrivingCalls = 2048;
/** Those of methods without a token. */
const arrivingOpenCalls = 256;
/** Calls of methods with streams, of all connections together. */
const streamingCalls = 1024;
/** Milliseconds after which a connection without calls is told to end. */
const idleLimit = 300_000;
/** Milliseconds between an answer and the reset of a call whose client still sends. */
const resetDelay = 100;
/** Milliseconds that messages have to arrive when the server ends. */
const closingLimit = 5000;

export function createGrpcServer(options: GrpcServerOptions): GrpcServer {
  const { methods, arrivalLimit, connections, tls } = options;
  const byPath = new Map(methods.map((method) => [method.path, method]));
  const sessions = new Set<Http2Session>();
  const openCalls = new Map<Http2Session, number>();
  const limits = {
    arriving: createCallLimit(arrivingCalls),
    arrivingOpen: createCallLimit(arrivingOpenCalls),
    streaming: { count: 0 },
  };
  const shared = {
    settings: { maxConcurrentStreams: streamsOfConnection, enablePush: false },
    // In MB. Answers that clients do not take are counted by the budget.
    maxSessionMemory: 256,
    // Node.js says this only of HTTP/1, but passes it to the socket.
    keepAlive: true,
    keepAliveInitialDelay: 60_000,
  };
  const server: Http2Server =
    tls === undefined
      ? createServer(shared)
      : createSecureServer({ ...shared, ...tls, handshakeTimeout: arrivalLimit });
  server.maxConnections = connections;
  server.on("session", (session: Http2Session) => {
    sessions.add(session);
    session.on("error", () => {});
    // A connection without a call is of no use to a client of gRPC.
    const unused = setTimeout(() => session.destroy(), arrivalLimit);
    session.once("stream", () => clearTimeout(unused));
    session.once("close", () => {
      clearTimeout(unused);
      sessions.delete(session);
    });
    session.setTimeout(idleLimit, () => {
      if (!openCalls.has(session)) session.close();
    });
  });
  server.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    stream.on("error", () => {});
    const { session } = stream;
    if (session !== undefined) {
      openCalls.set(session, (openCalls.get(session) ?? 0) + 1);
      stream.once("close", () => {
        const left = (openCalls.get(session) ?? 1) - 1;
        if (left === 0) openCalls.delete(session);
        else openCalls.set(session, left);
      });
    }
    serveCall(stream, headers, byPath, limits, options);
  });
  return {
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        server.once("error", reject);
        server.listen(port, host, () => {
          server.off("error", reject);
          server.on("error", options.onError);
          const address = server.address();
          resolve(typeof address === "object" && address !== null ? address.port : port);
        });
      }),
    close: () =>
      new Promise((resolve) => {
        const ending = setTimeout(() => {
          for (const limit of [limits.arriving, limits.arrivingOpen]) limit.endAll();
        }, closingLimit);
        server.close(() => {
          clearTimeout(ending);
          resolve();
        });
        for (const session of sessions) session.close();
      }),
    destroy() {
      server.close();
      for (const session of sessions) session.destroy();
    },
  };
}

/** Calls of which there may be only so many. */
interface CallLimit {
  /** `end` ends the call. The result takes it out. */
  enter(end: (error: RequestError) => void): () => void;
  endAll(): void;
}

function createCallLimit(most: number): CallLimit {
  const calls = new Set<(error: RequestError) => void>();
  const endFirst = (error: RequestError) => {
    const [first] = calls;
    if (first === undefined) return;
    calls.delete(first);
    first(error);
  };
  return {
    enter(end) {
      if (calls.size >= most) {
        endFirst(
          new RequestError("busy", `${most} calls were arriving, which are the most; this one for the longest time`),
        );
      }
      calls.add(end);
      return () => calls.delete(end);
    },
    endAll() {
      while (calls.size > 0)
        endFirst(new RequestError("unavailable", "the server ends, and the message has not arrived"));
    },
  };
}

interface Limits {
  readonly arriving: CallLimit;
  readonly arrivingOpen: CallLimit;
  readonly streaming: { count: number };
}

/** Answers a call, whatever it is. */
function serveCall(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  methods: ReadonlyMap<string, Method>,
  limits: Limits,
  { budget, arrivalLimit, authorize, onError }: GrpcServerOptions,
): void {
  const began = performance.now();
  const gone = new AbortController();
  let isAnswered = false;
  let leave = () => {};
  const timers: NodeJS.Timeout[] = [];
  const end = (error?: unknown) => {
    if (isAnswered) return;
    isAnswered = true;
    leave();
    sendStatus(stream, error);
    // A client that does not take its answer does not hold it for ever.
    if (!stream.closed) timers.push(setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), arrivalLimit));
  };
  const fail = (error: unknown) => {
    if (!(error instanceof RequestError) || error.kind === "failed") onError(error);
    holding.release();
    end(error);
  };
  const holding = budget.open(fail);
  stream.once("close", () => {
    leave();
    for (const timer of timers) clearTimeout(timer);
    holding.release();
    if (!isAnswered) gone.abort();
    isAnswered = true;
  });
  try {
    const method = methodOf(headers, methods);
    if (!method.isOpen) authorize(headers.authorization);
    const coding = codingOf(headers);
    const timeout = timeoutOf(headers);
    leave = (method.isOpen ? limits.arrivingOpen : limits.arriving).enter(fail);
    const arrival = Math.min(arrivalLimit, timeout ?? arrivalLimit);
    const late = setTimeout(() => {
      fail(new RequestError("late", `the message did not arrive in ${Math.round(arrival)} ms`));
    }, arrival);
    timers.push(late);
    const call: Call = {
      headers,
      signal: gone.signal,
      holding,
      timeLeft: () => (timeout === undefined ? undefined : Math.max(timeout - (performance.now() - began), 0.001)),
    };
    const arrived = () => {
      clearTimeout(late);
      leave();
      holding.arrived();
    };
    const send = (message: Uint8Array) => {
      if (isAnswered) return;
      if (!stream.headersSent) stream.respond(answerHeaders, { waitForTrailers: true });
      const prefix = Buffer.alloc(5);
      prefix.writeUInt32BE(message.length, 1);
      stream.write(prefix);
      stream.write(message);
    };
    const received =
      "answer" in method
        ? receiveOne(method, call, { send, end, arrived })
        : receiveMany(method, { ...call, send, end }, limits.streaming, { arrived, stream });
    const read = createFrames(method.messageLimit, coding, holding, received.message);
    let reading = Promise.resolve();
    stream.on("data", (chunk: Buffer) => {
      if (isAnswered) return;
      try {
        const packed = read.add(chunk);
        if (packed === undefined) return;
        // Messages come in their order, and no more is read meanwhile.
        stream.pause();
        reading = packed.then(() => void stream.resume());
        reading.catch(fail);
      } catch (error) {
        fail(error);
      }
    });
    stream.once("end", () => {
      reading
        .then(() => {
          if (isAnswered) return;
          read.end();
          return received.half();
        })
        .catch(fail);
    });
  } catch (error) {
    fail(error);
  }
}

/** Takes the message of a unary call, and answers when the client has ended. */
function receiveOne(
  method: UnaryMethod,
  call: Call,
  { send, end, arrived }: { send(message: Uint8Array): void; end(): void; arrived(): void },
) {
  let given: Uint8Array<ArrayBuffer> | undefined;
  return {
    message(bytes: Uint8Array<ArrayBuffer>) {
      if (given !== undefined) throw new RequestError("invalid", `${method.path} takes one message`);
      given = bytes;
    },
    async half() {
      if (given === undefined) throw new RequestError("invalid", `${method.path} takes one message, and none has come`);
      arrived();
      const answer = await method.answer(given, call);
      send(answer);
      end();
    },
  };
}

function receiveMany(
  method: StreamMethod,
  call: StreamCall,
  streaming: { count: number },
  { arrived, stream }: { arrived(): void; stream: ServerHttp2Stream },
) {
  let messages = 0;
  const open = () => {
    if (streaming.count >= streamingCalls) {
      throw new RequestError("busy", `there are ${streaming.count} calls with streams, which are the most`);
    }
    streaming.count++;
    stream.once("close", () => streaming.count--);
    arrived();
    return method.open(call);
  };
  let opened: ReturnType<StreamMethod["open"]> | undefined;
  return {
    message(bytes: Uint8Array) {
      messages++;
      if (messages > method.messages) throw new RequestError("busy", `a call takes ${method.messages} messages`);
      opened ??= open();
      opened.message(bytes);
    },
    async half() {
      opened ??= open();
      opened.half();
    },
  };
}

const answerHeaders: OutgoingHttpHeaders = {
  ":status": 200,
  "content-type": "application/grpc",
  "grpc-accept-encoding": ["identity", ...codings].join(),
};

/** Ends a call with the status of an error, or of none. */
function sendStatus(stream: ServerHttp2Stream, error: unknown): void {
  if (stream.closed || stream.destroyed) return;
  const trailers = error === undefined ? { "grpc-status": String(status.OK) } : trailersOf(error);
  if (stream.headersSent) {
    stream.once("wantTrailers", () => stream.sendTrailers(trailers));
    stream.end();
    return;
  }
  stream.respond({ ...answerHeaders, ...trailers }, { endStream: true });
  // What still comes of the message is discarded. A stream that is reset before Node.js has read what came for it would keep that part of the
  // connection's window, and stop its other calls.
  stream.resume();
  const resetting = setTimeout(() => stream.close(constants.NGHTTP2_NO_ERROR), resetDelay);
  stream.once("close", () => clearTimeout(resetting));
}

function trailersOf(error: unknown): OutgoingHttpHeaders {
  const retryAfter = error instanceof RequestError ? error.retryAfter : undefined;
  return {
    "grpc-status": String(error instanceof RequestError ? error.grpcStatus : status.INTERNAL),
    "grpc-message": encodeDetails(publicMessageOf(error)),
    // What clients with a policy of retries obey.
    ...(retryAfter !== undefined && {
      "retry-after": String(retryAfter),
      "grpc-retry-pushback-ms": String(retryAfter * 1000),
    }),
  };
}

function methodOf(headers: IncomingHttpHeaders, methods: ReadonlyMap<string, Method>): Method {
  const path = headers[":path"] ?? "";
  const isGrpc = headers[":method"] === "POST" && /^application\/grpc(\+proto)?$/.test(headers["content-type"] ?? "");
  if (!isGrpc) throw new RequestError("unsupported", "expected a POST of application/grpc");
  const method = methods.get(path);
  if (method === undefined) throw new RequestError("unsupported", `there is no method ${path}`);
  return method;
}

function codingOf(headers: IncomingHttpHeaders): Coding | undefined {
  const given = headers["grpc-encoding"];
  if (given === undefined || given === "identity") return undefined;
  if (typeof given === "string" && isCoding(given)) return given;
  throw new RequestError(
    "unsupported",
    `the message has the grpc-encoding "${given}"; expected one of ${codings.join(", ")}`,
  );
}

const units: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

/** Milliseconds that the client waits. */
function timeoutOf(headers: IncomingHttpHeaders): number | undefined {
  const text = headers["grpc-timeout"];
  if (text === undefined) return undefined;
  const [, digits, unit = ""] = /^(\d{1,8})([HMSmun])$/.exec(String(text)) ?? [];
  if (digits === undefined) throw new RequestError("invalid", `the grpc-timeout is "${text}", not a time`);
  return Number(digits) * (units[unit] ?? 1);
}

/** Reads frames: a byte that says whether the message is compressed, its length, the message. */
function createFrames(
  limit: number,
  coding: Coding | undefined,
  holding: Holding,
  onMessage: (bytes: Uint8Array<ArrayBuffer>) => void,
) {
  const prefix = Buffer.alloc(5);
  let known = 0;
  let body: Collector | undefined;
  const hold = (bytes: number) => holding.hold(bytes);
  /** Returns work that must end before more is added. */
  const finish = (bytes: Uint8Array<ArrayBuffer>): Promise<void> | undefined => {
    if (prefix[0] === 0) return void onMessage(bytes);
    if (prefix[0] !== 1 || coding === undefined) {
      throw new RequestError("invalid", "a message says that it is compressed, and the call has no grpc-encoding");
    }
    return unpack(bytes, coding, { limit, hold: (size) => hold(bytes.length + size) }).then(onMessage);
  };
  return {
    add(chunk: Buffer): Promise<void> | undefined {
      let place = 0;
      let work: Promise<void> | undefined;
      while (place < chunk.length) {
        if (known < 5) {
          const taken = chunk.copy(prefix, known, place, place + 5 - known);
          known += taken;
          place += taken;
          if (known < 5) return work;
          body = createCollector({ limit, length: prefix.readUInt32BE(1), hold });
        }
        if (body === undefined) return work;
        const missing = prefix.readUInt32BE(1) - body.received;
        body.add(chunk.subarray(place, place + missing));
        place += Math.min(missing, chunk.length - place);
        if (body.received < prefix.readUInt32BE(1)) return work;
        const { bytes } = body;
        known = 0;
        body = undefined;
        if (work !== undefined)
          throw new RequestError("invalid", "compressed messages follow each other without a pause");
        work = finish(bytes);
      }
      return work;
    },
    /** Throws a RequestError if a message has not ended. */
    end() {
      if (known > 0) throw new RequestError("invalid", `a message ended after ${body?.received ?? 0} bytes`);
    },
  };
}
