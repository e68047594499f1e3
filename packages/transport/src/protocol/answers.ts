/** The answering side of a connection: calls and messages of the peer reach their handlers, and each call is answered. */
import { ErrorStatus, type Outcome } from "@nnhal/types";
import { type ByteReader, type ByteWriter, readLast, UnreadableBytes } from "@nnhal/utils/codec";
import type { Channel, Frame } from "./channel.ts";
import { type Attachments, FrameKind, textOf, writeFrame } from "./frames.ts";
import { type Method, type Notice, ping } from "./methods.ts";
import { outcome } from "./values.ts";

/** Answers a method, or takes a message. `object`: the number of the object whose method it is; 0 for the device. */
export interface Handler {
  readonly code: number;
  readonly isNotice: boolean;
  /** Throws UnreadableBytes for arguments that cannot be read. */
  handle(object: number, from: ByteReader, attachments: Attachments): Promise<(to: ByteWriter) => void> | undefined;
}

/** The handler of a method. */
export function makeMethodHandler<Arguments, Result>(
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
export function makeMessageHandler<Arguments>(
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

/** Limits for a peer. */
export interface AnswerLimits {
  /** Most calls of the peer under way. Others are answered with RESOURCE_EXHAUSTED_TRANSIENT. */
  readonly mostCalls: number;
  /** Most bytes that wait for the peer, which gets no further answers until it has read them. */
  readonly mostWaiting: number;
}

/** See the file's head. */
export interface Answers {
  /** Takes a call, after its frame's kind. Throws UnreadableBytes if it has no head. */
  call(from: ByteReader, frame: Frame): void;
  /** Takes a message, after its frame's kind. Throws UnreadableBytes. */
  notice(from: ByteReader, frame: Frame): void;
}

/** Answers over a channel. Pings are answered by themselves. */
export function createAnswers(channel: Channel, handlers: readonly Handler[], limits: AnswerLimits): Answers {
  const { mostCalls, mostWaiting } = limits;
  const byCode = new Map(
    [makeMethodHandler(ping, () => ({ outcome: { status: ErrorStatus.NONE } })), ...handlers].map((one) => [
      one.code,
      one,
    ]),
  );
  let underWay = 0;

  const refuse = (id: number, refusal: Outcome) =>
    writeFrame(channel, FrameKind.refusal, (to) => {
      to.uint32(id);
      outcome.write(refusal, to);
    });

  const answer = async (id: number, object: number, handler: Handler, from: ByteReader, attachments: Attachments) => {
    underWay++;
    try {
      const content = await handler.handle(object, from, attachments);
      writeFrame(channel, FrameKind.answer, (to) => {
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
      if (channel.waiting > mostWaiting) {
        channel.pause();
        void channel.waitUntilDrained().then(() => channel.resume());
      }
    }
  };

  return {
    call(from, { attachments }) {
      const [id, code, object] = [from.uint32(), from.uint32(), from.uint32()];
      const handler = byCode.get(code);
      if (handler === undefined || handler.isNotice) {
        return refuse(id, { status: ErrorStatus.GENERAL_FAILURE, message: `there is no method ${code}` });
      }
      if (underWay >= mostCalls && code !== ping.code) {
        const message = `${mostCalls} calls of this client are under way, which is the limit`;
        return refuse(id, { status: ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT, message });
      }
      void answer(id, object, handler, from, attachments);
    },
    notice(from, { attachments }) {
      const [code, object] = [from.uint32(), from.uint32()];
      const handler = byCode.get(code);
      if (handler?.isNotice) handler.handle(object, from, attachments);
    },
  };
}
