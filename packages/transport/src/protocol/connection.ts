/**
 * Calls and messages of the table over a channel, the same on both sides. Any bytes are answered or end the connection; a call
 * ends when the peer answers, is gone, or is given up.
 */

import { ErrorStatus, type Outcome } from "@nnhal/types";
import { type ByteReader, byteReader, readLast, UnreadableBytes } from "@nnhal/utils/codec";
import { type AnswerLimits, createAnswers, type Handler } from "./answers.ts";
import type { Channel, Frame } from "./channel.ts";
import { type Attachments, FrameKind, textOf, writeCall, writeFrame, writeNotice } from "./frames.ts";
import { type Method, type Notice, ping } from "./methods.ts";
import { type SilenceOptions, watchSilence } from "./silence.ts";
import { outcome } from "./values.ts";

/** Options of a connection. Where more than `mostWaiting` bytes wait for the peer, calls fail with RESOURCE_EXHAUSTED_TRANSIENT. */
export interface ConnectionOptions extends AnswerLimits, SilenceOptions {}

/** One side of a connection. */
export interface Connection {
  readonly channel: Channel;
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

/** Runs a connection over a channel. `first`: takes a frame that is part of the handshake. */
export function createConnection(
  channel: Channel,
  handlers: readonly Handler[],
  options: ConnectionOptions,
  first: (kind: number, from: ByteReader) => void,
): Connection {
  const { mostWaiting } = options;
  const answers = createAnswers(channel, handlers, options);
  const pending = new Map<number, Pending>();
  const silence = watchSilence(
    options,
    () => pending.size > 0 && over === undefined,
    () => writeFrame(channel, FrameKind.call, (to) => writeCall(to, 0, ping.code, 0)),
    (milliseconds) => close(`it has shown no sign of life for ${milliseconds} ms`),
  );
  let lastId = 0;
  let over: string | undefined;
  let settle: (reason: string) => void = () => {};
  const closed = new Promise<string>((resolve) => {
    settle = resolve;
  });

  const end = (reason: string) => {
    if (over !== undefined) return;
    over = reason;
    silence.end();
    for (const { fail } of pending.values()) fail(deadObject(reason));
    pending.clear();
    settle(reason);
  };
  const close = (reason: string) => {
    channel.close(reason);
    end(reason);
  };

  const receive = (frame: Frame) => {
    silence.reset();
    const from = byteReader(frame.bytes);
    const kind = from.uint8();
    switch (kind) {
      case FrameKind.call:
        return answers.call(from, frame);
      case FrameKind.answer:
      case FrameKind.refusal: {
        const id = from.uint32();
        const call = pending.get(id);
        // The answers to the watch's own pings have no call.
        if (call === undefined) return;
        // A refusal that cannot be read ends the connection, and with it every call that is pending: this one too.
        const refusal = kind === FrameKind.refusal ? readLast(outcome, from) : undefined;
        pending.delete(id);
        if (pending.size === 0) silence.end();
        if (refusal === undefined) call.answer(from);
        else call.fail(refusal);
        return;
      }
      case FrameKind.notice:
        return answers.notice(from, frame);
      default:
        return first(kind, from);
    }
  };

  const connection: Connection = {
    channel,
    get over() {
      return over;
    },
    closed,
    call: (method, object, given) =>
      new Promise((resolve) => {
        const fail = (failed: Outcome) => resolve(method.answerFailure(describe(method.name, failed)));
        if (over !== undefined) return fail(deadObject(over));
        if (channel.waiting > mostWaiting) {
          const message = `${channel.waiting} bytes wait for the service to read them`;
          return fail({ status: ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT, message });
        }
        // 0 is the id of pings of the watch.
        lastId = lastId === 0xffff_ffff ? 1 : lastId + 1;
        const id = lastId;
        try {
          writeFrame(channel, FrameKind.call, (to) => {
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
        silence.start();
      }),
    send(notice, given, attachments) {
      if (over !== undefined) return;
      writeNotice(channel, notice, given, attachments);
    },
    close,
  };
  channel.start({
    frame(frame) {
      if (over !== undefined) return;
      try {
        receive(frame);
      } catch (error) {
        const why = error instanceof UnreadableBytes ? `a frame is malformed: ${error.message}` : textOf(error);
        close(why);
      }
    },
    onClose: end,
  });
  return connection;
}

function describe(method: string, { status, message = `status ${status}` }: Outcome): Outcome {
  return { status, message: `${method}: ${message}` };
}
