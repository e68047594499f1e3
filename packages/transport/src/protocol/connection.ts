/**
 * Calls and messages of the table over a carrier, the same on both sides. Any bytes are answered or end the connection; a call
 * ends when the peer answers, is gone, or is given up.
 */

import { ErrorStatus, type Outcome } from "@nnhal/types";
import {
  type ByteReader,
  type ByteWriter,
  byteReader,
  readLast,
  toBytes,
  UnreadableBytes,
  Unwritable,
} from "@nnhal/utils/codec";
import type { Timer } from "@nnhal/utils/time";
import type { Carrier, Frame } from "./carrier.ts";
import { type Method, type Notice, ping } from "./methods.ts";
import { outcome } from "./values.ts";

/** The first byte of a frame. */
export const FrameKind = { hello: 0, welcome: 1, call: 2, answer: 3, refusal: 4, notice: 5 } as const;

/** Buffers that come with a frame. */
type Attachments = Frame["attachments"];

/** Answers a method, or takes a message. `object`: the number of the object whose method it is; 0 for the device. */
export interface Handler {
  readonly code: number;
  readonly isNotice: boolean;
  /** Throws UnreadableBytes for arguments that cannot be read. */
  handle(object: number, from: ByteReader, attachments: Attachments): Promise<(to: ByteWriter) => void> | undefined;
}

/** The handler of a method. */
export function answering<Arguments, Result>(
  method: Method<Arguments, Result>,
  answer: (object: number, given: Arguments) => Promise<Result> | Result,
): Handler {
  return {
    code: method.code,
    isNotice: false,
    async handle(object, from) {
      const result = await answer(object, readLast(method.arguments, from));
      return (to) => method.result.write(result, to);
    },
  };
}

/** The handler of a message. */
export function taking<Arguments>(
  notice: Notice<Arguments>,
  take: (given: Arguments, attachments: Attachments) => void,
): Handler {
  return {
    code: notice.code,
    isNotice: true,
    handle(_object, from, attachments) {
      take(readLast(notice.arguments, from), attachments);
      return undefined;
    },
  };
}

/** Options of a connection. */
export interface ConnectionOptions {
  readonly timer: Timer;
  /**
   * Nanoseconds without a sign of life from the peer, while a call waits for it, after which it is gone. Time in which this thread was
   * itself stopped does not count.
   */
  readonly silenceLimit: bigint;
  /** Most calls of the peer under way. Others are answered with RESOURCE_EXHAUSTED_TRANSIENT. */
  readonly mostCalls: number;
  /** Most bytes that wait for the peer; further calls fail with RESOURCE_EXHAUSTED_TRANSIENT. */
  readonly mostWaiting: number;
}

/** One side of a connection. */
export interface Connection {
  readonly carrier: Carrier;
  /** Why the connection is over; undefined while it is not. */
  readonly over: string | undefined;
  /** Resolves with the reason when the connection is over. */
  readonly closed: Promise<string>;
  /**
   * Calls a method. Never rejects: without an answer, the result is `failed` of the method. DEVICE_UNAVAILABLE: the peer is
   * gone. INVALID_ARGUMENT: the arguments cannot be written.
   */
  call<Arguments, Result>(method: Method<Arguments, Result>, object: number, given: Arguments): Promise<Result>;
  /** Sends a message. Throws Unwritable. */
  send<Arguments>(notice: Notice<Arguments>, given: Arguments, attachments?: Attachments): void;
  close(reason: string): void;
}

/** Returns the outcome of calls to a peer that is gone. */
export function deadObject(reason: string): Outcome & { readonly message: string } {
  return { status: ErrorStatus.DEVICE_UNAVAILABLE, message: `DEAD_OBJECT: ${reason}` };
}

interface Pending {
  answer(from: ByteReader): void;
  fail(outcome: Outcome): void;
}

/** Runs a connection over a carrier. `first`: takes a frame that is part of the handshake. */
export function createConnection(
  carrier: Carrier,
  handlers: readonly Handler[],
  options: ConnectionOptions,
  first: (kind: number, from: ByteReader) => void,
): Connection {
  const { timer, silenceLimit, mostCalls, mostWaiting } = options;
  const byCode = new Map(
    [answering(ping, () => ({ outcome: { status: ErrorStatus.NONE } })), ...handlers].map((one) => [one.code, one]),
  );
  const pending = new Map<number, Pending>();
  let lastId = 0;
  let underWay = 0;
  let over: string | undefined;
  let isHeard = false;
  /** Cancels the timer of the watch; undefined while it has none. */
  let cancelWatch: (() => void) | undefined;
  let settle: (reason: string) => void = () => {};
  const closed = new Promise<string>((resolve) => {
    settle = resolve;
  });

  const end = (reason: string) => {
    if (over !== undefined) return;
    over = reason;
    endWatch();
    for (const { fail } of pending.values()) fail(deadObject(reason));
    pending.clear();
    settle(reason);
  };
  const close = (reason: string) => {
    carrier.close(reason);
    end(reason);
  };

  /** While calls wait, the peer must show signs of life. The timer keeps the process alive until they are answered, and no longer. */
  const watch = () => {
    if (cancelWatch !== undefined || pending.size === 0 || over !== undefined) return;
    isHeard = false;
    const looks = 4n;
    const step = silenceLimit / looks > 0n ? silenceLimit / looks : 1n;
    // Looks are counted, not the time between them: a process that was stopped finds its peer's answers only after it looks.
    let silent = 0n;
    const look = () => {
      silent = isHeard ? 0n : silent + 1n;
      isHeard = false;
      if (silent >= looks) return close(`it has shown no sign of life for ${(silent * step) / 1_000_000n} ms`);
      if (silent > 0n) write(FrameKind.call, (to) => writeCall(to, 0, ping.code, 0));
      // The ping can have ended the connection.
      if (cancelWatch !== undefined) cancelWatch = timer(step, look);
    };
    cancelWatch = timer(step, look);
  };
  const endWatch = () => {
    cancelWatch?.();
    cancelWatch = undefined;
  };

  const write = (kind: number, content: (to: ByteWriter) => void, attachments?: Attachments) => {
    const bytes = toBytes((to) => {
      to.uint8(kind);
      content(to);
    });
    carrier.send(bytes, attachments);
  };
  const refuse = (id: number, refusal: Outcome) =>
    write(FrameKind.refusal, (to) => {
      to.uint32(id);
      outcome.write(refusal, to);
    });

  const answer = async (id: number, object: number, handler: Handler, from: ByteReader, attachments: Attachments) => {
    underWay++;
    try {
      const content = await handler.handle(object, from, attachments);
      write(FrameKind.answer, (to) => {
        to.uint32(id);
        content?.(to);
      });
    } catch (error) {
      const isMalformed = error instanceof UnreadableBytes;
      const status = isMalformed ? ErrorStatus.INVALID_ARGUMENT : ErrorStatus.GENERAL_FAILURE;
      refuse(id, { status, message: isMalformed ? `the frame is malformed: ${error.message}` : textOf(error) });
    } finally {
      underWay--;
      // A peer that does not read its answers gets no further ones.
      if (carrier.waiting > mostWaiting) {
        carrier.pause();
        void carrier.drained().then(() => carrier.resume());
      }
    }
  };

  const receive = (frame: Frame) => {
    isHeard = true;
    const from = byteReader(frame.bytes);
    const kind = from.uint8();
    switch (kind) {
      case FrameKind.call: {
        const [id, code, object] = [from.uint32(), from.uint32(), from.uint32()];
        const handler = byCode.get(code);
        if (handler === undefined || handler.isNotice) {
          return refuse(id, { status: ErrorStatus.GENERAL_FAILURE, message: `there is no method ${code}` });
        }
        if (underWay >= mostCalls && code !== ping.code) {
          const message = `${mostCalls} calls of this client are under way, which is the limit`;
          return refuse(id, { status: ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT, message });
        }
        return void answer(id, object, handler, from, frame.attachments);
      }
      case FrameKind.answer:
      case FrameKind.refusal: {
        const id = from.uint32();
        const call = pending.get(id);
        // The answers to the watch's own pings have no call.
        if (call === undefined) return;
        // A refusal that cannot be read ends the connection, and with it every call that is pending: this one too.
        const refusal = kind === FrameKind.refusal ? readLast(outcome, from) : undefined;
        pending.delete(id);
        if (pending.size === 0) endWatch();
        if (refusal === undefined) call.answer(from);
        else call.fail(refusal);
        return;
      }
      case FrameKind.notice: {
        const [code, object] = [from.uint32(), from.uint32()];
        const handler = byCode.get(code);
        if (handler?.isNotice) handler.handle(object, from, frame.attachments);
        return;
      }
      default:
        return first(kind, from);
    }
  };

  const writeCall = (to: ByteWriter, id: number, code: number, object: number) => {
    to.uint32(id);
    to.uint32(code);
    to.uint32(object);
  };

  const connection: Connection = {
    carrier,
    get over() {
      return over;
    },
    closed,
    call: (method, object, given) =>
      new Promise((resolve) => {
        const fail = (failed: Outcome) => resolve(method.failed(described(method.name, failed)));
        if (over !== undefined) return fail(deadObject(over));
        if (carrier.waiting > mostWaiting) {
          const message = `${carrier.waiting} bytes wait for the service to read them`;
          return fail({ status: ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT, message });
        }
        // 0 is the id of pings of the watch.
        lastId = lastId === 0xffff_ffff ? 1 : lastId + 1;
        const id = lastId;
        try {
          write(FrameKind.call, (to) => {
            writeCall(to, id, method.code, object);
            method.arguments.write(given, to);
          });
        } catch (error) {
          return fail({ status: ErrorStatus.INVALID_ARGUMENT, message: `the arguments: ${textOf(error)}` });
        }
        pending.set(id, {
          fail,
          answer(from) {
            try {
              resolve(readLast(method.result, from));
            } catch (error) {
              fail({ status: ErrorStatus.GENERAL_FAILURE, message: `the answer is malformed: ${textOf(error)}` });
            }
          },
        });
        watch();
      }),
    send(notice, given, attachments) {
      if (over !== undefined) return;
      write(
        FrameKind.notice,
        (to) => {
          to.uint32(notice.code);
          to.uint32(0);
          notice.arguments.write(given, to);
        },
        attachments,
      );
    },
    close,
  };
  carrier.start({
    frame(frame) {
      if (over !== undefined) return;
      try {
        receive(frame);
      } catch (error) {
        const why = error instanceof UnreadableBytes ? `a frame is malformed: ${error.message}` : textOf(error);
        close(why);
      }
    },
    closed: end,
  });
  return connection;
}

function described(method: string, { status, message = `status ${status}` }: Outcome): Outcome {
  return { status, message: `${method}: ${message}` };
}

/** A thrown value as a text. */
export function textOf(error: unknown): string {
  if (error instanceof Unwritable || error instanceof Error) return error.message;
  return typeof error === "string" ? error : "something that is not an error was thrown";
}
