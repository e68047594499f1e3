/**
 * Frames between two threads, over a MessagePort. Buffers that both threads share pass as they are. Ports have no back
 * pressure of their own, so each side says how many bytes it has taken.
 */
import type { MessagePort } from "node:worker_threads";
import {
  type Channel,
  type ChannelOptions,
  checkLength,
  createDrain,
  defaultMostFrame,
  type Frame,
  lowWater,
} from "../protocol/channel.ts";
import { createInbox } from "./inbox.ts";

/** Options of a port. */
export interface PortOptions extends ChannelOptions {
  /** True if the port keeps this thread alive. Default: true. */
  readonly keepAlive?: boolean | undefined;
}

/** Number of taken bytes after which the other side is notified. */
const tellAfter = lowWater / 4;

/** A channel over one end of a MessageChannel. It owns the port. */
export function portChannel(port: MessagePort, options: PortOptions = {}): Channel {
  const { mostFrame = defaultMostFrame, keepAlive = true } = options;
  let waiting = 0;
  let untold = 0;
  let isClosed = false;
  let reason = "the other side has closed the port, or its thread has ended";
  const drain = createDrain(() => isClosed || waiting < lowWater);
  const inbox = createInbox((count) => {
    untold += count;
    if (untold < tellAfter) return;
    port.postMessage({ taken: untold });
    untold = 0;
  });
  const close = (why: string) => {
    if (isClosed) return;
    reason = why;
    inbox.end(why);
    inbox.drop();
    port.close();
  };
  const receive = (message: unknown) => {
    const read = readMessage(message);
    if (read === undefined) return close("the other side has sent something else than a frame");
    if (typeof read !== "number") {
      const { length } = read.bytes;
      if (length > mostFrame) return close(`received a frame of ${length} bytes, more than the limit of ${mostFrame}`);
      return inbox.push(read);
    }
    waiting = Math.max(0, waiting - read);
    if (waiting < lowWater) drain.release();
  };
  return {
    name: "port",
    start(receiver) {
      inbox.start(receiver);
      port.on("message", receive);
      const end = () => {
        isClosed = true;
        drain.release();
        inbox.end(reason);
      };
      port.once("close", end);
      if (wasClosed(port)) end();
      if (!keepAlive) port.unref();
    },
    send(bytes, attachments = []) {
      checkLength(bytes, mostFrame);
      if (isClosed) return;
      waiting += bytes.length;
      // A view on a larger buffer would be sent with all of it.
      const isWhole = bytes.byteLength === bytes.buffer.byteLength;
      port.postMessage({ bytes: isWhole ? bytes : bytes.slice(), attachments });
    },
    get waiting() {
      return waiting;
    },
    waitUntilDrained: () => drain.wait(),
    pause: () => inbox.pause(),
    resume: () => inbox.resume(),
    close: (why = "this side has closed the connection") => close(why),
  };
}

/** A frame, or the number of bytes that the other side has taken; undefined for anything else. */
function readMessage(message: unknown): Frame | number | undefined {
  if (typeof message !== "object" || message === null) return undefined;
  if ("taken" in message) return typeof message.taken === "number" ? message.taken : undefined;
  if (!("bytes" in message && message.bytes instanceof Uint8Array)) return undefined;
  const attachments = "attachments" in message && Array.isArray(message.attachments) ? message.attachments : [];
  const areShared = attachments.every((one): one is SharedArrayBuffer => one instanceof SharedArrayBuffer);
  return areShared ? { bytes: message.bytes, attachments } : undefined;
}

/** Returns whether a port was closed before a listener was added: no event reports that later. */
function wasClosed(port: MessagePort): boolean {
  port.ref();
  return "hasRef" in port && typeof port.hasRef === "function" && port.hasRef() === false;
}
