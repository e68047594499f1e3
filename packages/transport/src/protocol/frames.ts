/** Frames: a byte with their kind, and content, over a channel. */
import { type ByteWriter, toBytes, Unwritable } from "@nnhal/utils/codec";
import type { Channel, Frame } from "./channel.ts";
import type { Notice } from "./methods.ts";

/** The first byte of a frame. */
export const FrameKind = { hello: 0, welcome: 1, call: 2, answer: 3, refusal: 4, notice: 5 } as const;

/** Buffers that come with a frame. */
export type Attachments = Frame["attachments"];

/** Writes a frame of a kind. Throws Unwritable. */
export function writeFrame(
  channel: Channel,
  kind: number,
  content: (to: ByteWriter) => void,
  attachments?: Attachments,
): void {
  const bytes = toBytes((to) => {
    to.uint8(kind);
    content(to);
  });
  channel.send(bytes, attachments);
}

/** Writes the head of a call. `object`: the number of the object whose method it is; 0 for the device. */
export function writeCall(to: ByteWriter, id: number, code: number, object: number): void {
  to.uint32(id);
  to.uint32(code);
  to.uint32(object);
}

/** Writes a message to the device. Throws Unwritable. */
export function writeNotice<Arguments>(
  channel: Channel,
  notice: Notice<Arguments>,
  given: Arguments,
  attachments?: Attachments,
): void {
  const content = (to: ByteWriter) => {
    to.uint32(notice.code);
    to.uint32(0);
    notice.arguments.write(given, to);
  };
  writeFrame(channel, FrameKind.notice, content, attachments);
}

/** A thrown value as a text. */
export function textOf(error: unknown): string {
  if (error instanceof Unwritable || error instanceof Error) return error.message;
  return typeof error === "string" ? error : "something that is not an error was thrown";
}
