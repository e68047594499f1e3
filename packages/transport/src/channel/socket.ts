/**
 * Frames between two processes, over a stream such as a unix-domain socket: the length of each in four bytes, then its bytes.
 */
import type { Socket } from "node:net";
import {
  type Channel,
  type ChannelOptions,
  checkLength,
  createDrain,
  defaultMostFrame,
  lowWater,
} from "../protocol/channel.ts";
import { createInbox } from "./inbox.ts";

const headerLength = 4;
/** Bytes of a frame that are copied behind its header: below this, one write takes less time than two. */
const mostJoined = 4096;

/** A channel over a connected socket, which it owns. The socket keeps the process alive unless it is unreferenced. */
export function socketChannel(socket: Socket, { mostFrame = defaultMostFrame }: ChannelOptions = {}): Channel {
  let isClosed = false;
  let reason = "the other side has closed the connection";
  const inbox = createInbox();
  const drain = createDrain(() => isClosed || socket.writableLength < lowWater);
  socket.on("drain", () => drain.release());
  // Without a listener, an error before the start would end the process.
  socket.on("error", (error) => {
    reason = `the connection is broken: ${error.message}`;
  });
  const end = () => {
    isClosed = true;
    drain.release();
    inbox.end(reason);
  };
  return {
    name: "socket",
    start(receiver) {
      const split = frameSplitter(mostFrame);
      inbox.start(receiver);
      socket.on("data", (chunk: Uint8Array) => {
        for (const frame of split(chunk)) {
          if ("bytes" in frame) inbox.push({ bytes: frame.bytes, attachments: [] });
          else {
            reason = `received a frame of ${frame.tooLong} bytes, more than the limit of ${mostFrame}`;
            socket.destroy();
          }
        }
      });
      socket.once("end", () => socket.destroy());
      socket.once("close", end);
      if (socket.destroyed) end();
    },
    send(bytes) {
      checkLength(bytes, mostFrame);
      if (isClosed || socket.destroyed) return;
      if (bytes.length <= mostJoined) {
        const whole = new Uint8Array(headerLength + bytes.length);
        new DataView(whole.buffer).setUint32(0, bytes.length, true);
        whole.set(bytes, headerLength);
        socket.write(whole);
        return;
      }
      const header = new Uint8Array(headerLength);
      new DataView(header.buffer).setUint32(0, bytes.length, true);
      socket.cork();
      socket.write(header);
      socket.write(bytes);
      socket.uncork();
    },
    get waiting() {
      return socket.writableLength;
    },
    waitUntilDrained: () => drain.wait(),
    pause() {
      inbox.pause();
      socket.pause();
    },
    resume() {
      inbox.resume();
      socket.resume();
    },
    close(why = "this side has closed the connection") {
      if (isClosed) return;
      reason = why;
      inbox.end(why);
      inbox.drop();
      if (socket.writableLength === 0) return void socket.destroy();
      // Frames that were sent before are written out, unless the other side does not read.
      socket.end(() => socket.destroy());
      setTimeout(() => socket.destroy(), 1000).unref();
    },
  };
}

/**
 * Divides a stream into frames. Memory for a frame grows with the bytes that have come, not with the length that its header
 * claims. After a frame over the limit nothing is read.
 */
export function frameSplitter(
  mostFrame: number,
): (chunk: Uint8Array) => ({ readonly bytes: Uint8Array } | { readonly tooLong: number })[] {
  let pieces: Uint8Array[] = [];
  let length = 0;
  let wanted = headerLength;
  let isHeader = true;
  return (chunk) => {
    const frames: ({ readonly bytes: Uint8Array } | { readonly tooLong: number })[] = [];
    pieces.push(chunk);
    length += chunk.length;
    while (length >= wanted) {
      const all = join(pieces, length);
      const part = all.subarray(0, wanted);
      const rest = all.subarray(wanted);
      pieces = rest.length === 0 ? [] : [rest];
      length = rest.length;
      if (!isHeader) {
        // A copy: the rest of the chunk must not live as long as the frame.
        frames.push({ bytes: part.slice() });
        [isHeader, wanted] = [true, headerLength];
        continue;
      }
      wanted = new DataView(part.buffer, part.byteOffset, headerLength).getUint32(0, true);
      isHeader = false;
      if (wanted > mostFrame) {
        frames.push({ tooLong: wanted });
        wanted = Number.POSITIVE_INFINITY;
        return frames;
      }
    }
    return frames;
  };
}

function join(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const [first] = pieces;
  if (pieces.length === 1 && first !== undefined) return first;
  const all = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
