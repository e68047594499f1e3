/**
 * Descriptors of files that two processes pass to each other, over a unix socket that carries nothing else. Sockets of Node.js
 * lose descriptors when they are read, so Node.js never reads this one: when a message of the main connection says that a
 * descriptor has been sent, it is there already, and is received without waiting.
 */
import { closeSync } from "node:fs";
import { type Linux, linux } from "./linux.ts";

/** One end of a socket for descriptors. */
export interface DescriptorChannel {
  /** Sends a descriptor. Returns the number by which the other end takes it, or why it was not sent. */
  send(fd: number): number | NotPassed;
  /** A descriptor that the other end has sent. The caller closes it. */
  take(id: number): number | NotPassed;
  /** Closes the descriptors that were not taken. The socket is not closed. */
  close(): void;
}

/** Why a descriptor has not been passed. */
export interface NotPassed {
  readonly notPassed: string;
}

/** Length of a message: its kind, and the number of a descriptor or the secret of a greeting. */
const messageLength = 32;
const magic = 0x6466_6e6e;
const Kind = { greeting: 1, descriptor: 2 } as const;
/** Bytes of the secret that tells which client has connected. */
export const secretLength = 16;
/** Most descriptors that an end keeps before they are taken. Sockets hold about as many. */
export const mostUntaken = 256;

/** The message that a client sends first. */
export function makeGreeting(secret: Uint8Array): Uint8Array {
  const message = messageOf(Kind.greeting, 0);
  message.set(secret, messageLength - secretLength);
  return message;
}

function messageOf(kind: number, id: number): Uint8Array {
  const message = new Uint8Array(messageLength);
  const view = new DataView(message.buffer);
  view.setUint32(0, magic, true);
  view.setUint32(4, kind, true);
  view.setUint32(8, id, true);
  return message;
}

/** The secret of a greeting; "none" if it has not come, "closed" if the socket is, or carries something else. */
export function receiveGreeting(system: Linux, socket: number): Uint8Array | "none" | "closed" {
  try {
    const message = system.receive(socket, messageLength);
    if (typeof message === "string") return message;
    closeAll(message.descriptors);
    const isGreeting = message.descriptors.length === 0 && partsOf(message.bytes)?.kind === Kind.greeting;
    return isGreeting ? message.bytes.subarray(messageLength - secretLength) : "closed";
  } catch {
    return "closed";
  }
}

function partsOf(bytes: Uint8Array): { readonly kind: number; readonly id: number } | undefined {
  if (bytes.length !== messageLength) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, messageLength);
  return view.getUint32(0, true) === magic ? { kind: view.getUint32(4, true), id: view.getUint32(8, true) } : undefined;
}

/**
 * A channel over a connected socket, whose descriptor any thread of the process may use, but one only. A peer that breaks the
 * rules (other messages, several descriptors in one message, more than 256 that are not taken) is cut off: all are closed.
 */
export function descriptorChannel(socket: number): DescriptorChannel | NotPassed {
  const found = linux();
  if ("missing" in found) return { notPassed: found.missing };
  const system: Linux = found;
  /** Descriptors that were received, or why they were lost. */
  const untaken = new Map<number, number | NotPassed>();
  let lastReceived = 0;
  let lastSent = 0;
  let over: NotPassed | undefined;

  const end = (why: string): NotPassed => {
    over ??= { notPassed: why };
    closeAll([...untaken.values()].filter((one) => typeof one === "number"));
    untaken.clear();
    return over;
  };

  /** Receives one message. Returns why none can be received. */
  const receive = (): NotPassed | undefined => {
    const message = system.receive(socket, messageLength);
    if (message === "none") return { notPassed: "it has not been sent" };
    if (message === "closed") return end("the other end has closed its socket");
    const { bytes, descriptors, isTruncated } = message;
    const [fd] = descriptors;
    const parts = partsOf(bytes);
    const isNext = parts?.kind === Kind.descriptor && parts.id > lastReceived;
    if (parts === undefined || !isNext || (isTruncated ? fd !== undefined : fd === undefined)) {
      closeAll(descriptors);
      return end("the other end has sent something else than one descriptor");
    }
    lastReceived = parts.id;
    untaken.set(parts.id, fd ?? { notPassed: "this process cannot open more files" });
    return untaken.size > mostUntaken ? end(`more than ${mostUntaken} descriptors were sent and not used`) : undefined;
  };

  return {
    send(fd) {
      if (over !== undefined) return over;
      try {
        const id = lastSent + 1;
        if (!system.send(socket, messageOf(Kind.descriptor, id), fd)) {
          return { notPassed: "the other end has not taken the descriptors before it" };
        }
        lastSent = id;
        return id;
      } catch (error) {
        return { notPassed: messageOfError(error) };
      }
    },
    take(id) {
      try {
        while (over === undefined && !untaken.has(id)) {
          const why = receive();
          if (why !== undefined) return why;
        }
      } catch (error) {
        end(messageOfError(error));
      }
      if (over !== undefined) return over;
      const taken = untaken.get(id) ?? { notPassed: "it has not been sent" };
      untaken.delete(id);
      return taken;
    },
    close: () => void end("the channel is closed"),
  };
}

function closeAll(descriptors: readonly number[]): void {
  for (const fd of descriptors) closeSync(fd);
}

function messageOfError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
