/** Limits of gRPC that HTTP/2 and the budget of memory do not have: how many calls there are of each kind, and for how long connections are kept. */
import type { Http2Session, ServerHttp2Stream } from "node:http2";
import { RequestError } from "./errors.ts";

/** Numbers of calls, and milliseconds. */
export interface GrpcLimits {
  /** Calls of one connection at a time. */
  readonly callsOfConnection: number;
  /** Calls whose messages arrive, of all connections together; the one that has been arriving longest is ended for a new one. */
  readonly arriving: number;
  /** Those of methods without a token. */
  readonly arrivingOpen: number;
  /** Calls of methods with streams, of all connections together; a new one is refused. */
  readonly streaming: number;
  /** Time after which a connection without calls is told to end. */
  readonly idle: number;
  /** Time that messages have to arrive, and streams to end, when the server ends. */
  readonly closing: number;
}

export const defaultLimits: GrpcLimits = {
  callsOfConnection: 128,
  arriving: 2048,
  arrivingOpen: 256,
  streaming: 1024,
  idle: 300_000,
  closing: 5000,
};

/** Calls of a kind of which there may be only so many. */
export interface CallLimit {
  /** `end` ends the call. The result takes it out. Throws a RequestError if there are too many and none makes room. */
  enter(end: (error: RequestError) => void): () => void;
  endAll(): void;
}

/** The limits of all calls together. */
export interface CallLimits {
  readonly arriving: CallLimit;
  readonly arrivingOpen: CallLimit;
  readonly streaming: CallLimit;
  /** Ends all calls that wait for their client. */
  endAll(): void;
}

export function createCallLimits({ arriving, arrivingOpen, streaming }: GrpcLimits): CallLimits {
  const limits = {
    arriving: createCallLimit(arriving, true),
    arrivingOpen: createCallLimit(arrivingOpen, true),
    streaming: createCallLimit(streaming, false),
  };
  return {
    ...limits,
    endAll() {
      for (const limit of Object.values(limits)) limit.endAll();
    },
  };
}

/** `makesRoom`: whether the first call is ended for one too many; else that one is refused. */
function createCallLimit(most: number, makesRoom: boolean): CallLimit {
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
        if (!makesRoom) throw new RequestError("busy", `there are ${most} calls with streams, which are the most`);
        const text = `${most} calls were arriving, which are the most; this one for the longest time`;
        endFirst(new RequestError("busy", text));
      }
      calls.add(end);
      return () => calls.delete(end);
    },
    endAll() {
      while (calls.size > 0) {
        endFirst(new RequestError("unavailable", "the server ends, and the client has not ended the call"));
      }
    },
  };
}

/** The connections of a server. */
export interface Sessions {
  add(session: Http2Session): void;
  addCall(stream: ServerHttp2Stream): void;
  /** Tells all that they end. */
  close(): void;
  destroy(): void;
}

/** `unused`: milliseconds in which a connection must have its first call. */
export function createSessions(unused: number, idle: number): Sessions {
  const sessions = new Set<Http2Session>();
  const calls = new Map<Http2Session, number>();
  return {
    add(session) {
      sessions.add(session);
      // A gRPC client needs a connection only for calls.
      const timer = setTimeout(() => session.destroy(), unused);
      session.once("stream", () => clearTimeout(timer));
      session.once("close", () => {
        clearTimeout(timer);
        sessions.delete(session);
      });
      session.setTimeout(idle, () => {
        if (!calls.has(session)) session.close();
      });
    },
    addCall(stream) {
      const { session } = stream;
      if (session === undefined) return;
      calls.set(session, (calls.get(session) ?? 0) + 1);
      stream.once("close", () => {
        const left = (calls.get(session) ?? 1) - 1;
        if (left === 0) calls.delete(session);
        else calls.set(session, left);
      });
    },
    close() {
      for (const session of sessions) session.close();
    },
    destroy() {
      for (const session of sessions) session.destroy();
    },
  };
}
