/** One call of gRPC, from its headers to its trailers. A caller is authorised before a byte of its message is read. */
import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { Budget } from "./budget.ts";
import { RequestError } from "./errors.ts";
import { createFrames, prefixOf } from "./grpc-frames.ts";
import { answerHeaders, methodOf, readCoding, timeoutOf, trailersOf } from "./grpc-headers.ts";
import type { CallLimits } from "./grpc-limits.ts";
import type { Call, Method, StreamCall, StreamMethod, UnaryMethod } from "./grpc-method.ts";

/** Options that calls share. */
export interface CallOptions {
  /** Methods by path. */
  readonly methods: ReadonlyMap<string, Method>;
  readonly limits: CallLimits;
  readonly budget: Budget;
  /** Milliseconds in which a message must arrive, and its answer be taken. */
  readonly arrivalLimit: number;
  /** Throws a RequestError if the client has no permission. */
  authorize(header: string | undefined): void;
  /** Called with errors of the server itself. */
  onError(error: unknown): void;
}

/** Milliseconds between an answer and the reset of a call whose client still sends. */
const resetDelay = 100;

/** Answers any call. */
export function serveCall(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, options: CallOptions): void {
  const { methods, limits, budget, arrivalLimit, authorize, onError } = options;
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
    // A client that does not take its answer must not hold it endlessly.
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
    const coding = readCoding(headers);
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
    const markArrived = () => {
      clearTimeout(late);
      leave();
      holding.markArrived();
    };
    const send = (message: Uint8Array) => {
      if (isAnswered) return;
      if (!stream.headersSent) stream.respond(answerHeaders, { waitForTrailers: true });
      stream.write(prefixOf(message));
      stream.write(message);
    };
    const received =
      "answer" in method
        ? receiveOne(method, call, { send, end, arrived: markArrived })
        : receiveMany(method, { ...call, send, end }, () => {
            markArrived();
            leave = limits.streaming.enter(fail);
          });
    const read = createFrames(method.messageLimit, coding, holding, received.message);
    let reading = Promise.resolve();
    stream.on("data", (chunk: Buffer) => {
      if (isAnswered) return;
      try {
        const packed = read.add(chunk);
        if (packed === undefined) return;
        // Messages keep their order, and no more is read meanwhile.
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

/** Receives the message of a unary call, and answers when the client has ended. */
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
      if (given === undefined) throw new RequestError("invalid", `${method.path} takes one message, got none`);
      arrived();
      const answer = await method.answer(given, call);
      send(answer);
      end();
    },
  };
}

/** Receives the messages of a call with streams, which is open from the first of them, or from the end of the client. */
function receiveMany(method: StreamMethod, call: StreamCall, enter: () => void) {
  let messages = 0;
  let opened: ReturnType<StreamMethod["open"]> | undefined;
  const open = () => {
    enter();
    return method.open(call);
  };
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

/** Ends a call with the status of an error, or of success. */
function sendStatus(stream: ServerHttp2Stream, error: unknown): void {
  if (stream.closed || stream.destroyed) return;
  const trailers = trailersOf(error);
  if (stream.headersSent) {
    stream.once("wantTrailers", () => {
      stream.sendTrailers(trailers);
      resetLater(stream);
    });
    stream.end();
  } else {
    stream.respond({ ...answerHeaders, ...trailers }, { endStream: true });
    resetLater(stream);
  }
}

/** Ends an answered call whose client still sends. */
function resetLater(stream: ServerHttp2Stream): void {
  // The rest of the message is discarded. A stream that is reset before Node.js has read its data would keep that part of the
  // connection's window, and stop its other calls.
  stream.resume();
  const resetting = setTimeout(() => stream.close(constants.NGHTTP2_NO_ERROR), resetDelay);
  stream.once("close", () => clearTimeout(resetting));
}
