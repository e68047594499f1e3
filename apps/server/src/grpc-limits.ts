/**
 * Limits of gRPC in addition to those of HTTP/2 and the budget of memory: numbers of calls of each kind, and the life of
 * connections.
 */
import type { Http2Session, ServerHttp2Stream } from "node:http2";
import { RequestError } from "./errors.ts";

/** Numbers of calls, and times in milliseconds. */
export interface GrpcLimits {
  /** Concurrent calls of one connection. */
  readonly callsOfConnection: number;
  /** Calls whose messages are arriving, of all connections together; the oldest one is ended for a new one. */
  readonly arriving: number;
  /** The same for calls of methods without a token. */
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

/** A limited set of calls of one kind. */
export interface CallLimit {
  /**
   * Adds a call; the result removes it. `end` ends the call. Throws a RequestError if there are too many and none makes room.
   */
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

/** Creates a limit. `makesRoom`: if true, the first call is ended for one too many; else the new one is refused. */
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
  /** Tells all connections to end. */
  close(): void;
  destroy(): void;
}

/** Creates the set of connections. `unused`: milliseconds in which a connection must have its first call. */
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
