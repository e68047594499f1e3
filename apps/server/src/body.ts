/// <reference lib="es2024.arraybuffer" />
/**
 * Bodies and messages in pieces, read with one copy: from the socket to the memory that moves to the computing thread.
 * Compressed ones are unpacked on the way, up to the limit.
 */
import { Buffer } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { createGunzip, createInflate, constants as zlib } from "node:zlib";
import { RequestError } from "./errors.ts";
import { createLane } from "./lane.ts";

/** Elements of any type may lie at a multiple of it. */
const alignment = 8;

/** Bytes that are allocated before they have arrived. */
const mostUnseen = 2 ** 20;

export interface BodyOptions {
  /** Maximum bytes. */
  readonly limit: number;
  /** Announced number of bytes; undefined if there is none. */
  readonly length?: number | undefined;
  /** Number of bytes before the tensors, the first of which is aligned; a value that is not an integer counts as 0. */
  readonly before?: number;
  /** Called with the number of bytes before they are allocated; throws if they are refused. */
  hold?(bytes: number): void;
}

/** Joins pieces. */
export interface Collector {
  /** Adds a piece. Throws a RequestError if the body is too large. */
  add(chunk: Uint8Array): void;
  readonly received: number;
  /** Returns the received bytes, in memory with no other user. Nothing is added after it. */
  take(): Uint8Array<ArrayBuffer>;
  /** Gives back its memory, which is no longer used. */
  drop(): void;
}

/** Creates a collector. Throws a RequestError if the announced length is too large. */
export function createCollector({ limit, length, before = 0, hold = () => {} }: BodyOptions): Collector {
  if (length !== undefined && length > limit) throw tooLarge(limit);
  const first = Number.isSafeInteger(before) ? (alignment - (before % alignment)) % alignment : 0;
  const memory = (size: number) => {
    hold(first + size);
    return Buffer.allocUnsafeSlow(first + size).subarray(first);
  };
  return length === undefined ? collectAny(limit, memory, hold) : collectKnown(length, limit, memory);
}

function collectKnown(length: number, limit: number, memory: (size: number) => Buffer<ArrayBuffer>): Collector {
  let body = memory(Math.min(length, mostUnseen));
  let received = 0;
  return {
    add(chunk) {
      const end = received + chunk.length;
      if (end > limit) throw tooLarge(limit);
      if (end > body.length) {
        const larger = memory(Math.max(end, length));
        larger.set(body.subarray(0, received));
        body = larger;
      }
      body.set(chunk, received);
      received = end;
    },
    get received() {
      return received;
    },
    take: () => body.subarray(0, received),
    drop() {},
  };
}

/**
 * Collects a body of unknown length. The memory grows in place and is given back at once: garbage collection comes late if
 * processors are busy, and left several times the memory that requests may hold.
 */
function collectAny(
  limit: number,
  memory: (size: number) => Buffer<ArrayBuffer>,
  hold: (bytes: number) => void,
): Collector {
  const growing = new ArrayBuffer(0, { maxByteLength: limit });
  let received = 0;
  const drop = () => growing.resize(0);
  return {
    add(chunk) {
      const end = received + chunk.length;
      if (end > limit) throw tooLarge(limit);
      if (end > growing.byteLength) {
        const size = Math.min(limit, 2 * end);
        hold(size);
        growing.resize(size);
      }
      new Uint8Array(growing, received).set(chunk);
      received = end;
    },
    get received() {
      return received;
    },
    take() {
      const body = memory(received);
      body.set(new Uint8Array(growing, 0, received));
      drop();
      return body;
    },
    drop,
  };
}

/** Permitted compressions of bodies and messages. */
export const codings = ["gzip", "deflate"] as const;

export type Coding = (typeof codings)[number];

export function isCoding(text: string): text is Coding {
  return codings.some((coding) => coding === text);
}

/** The most bytes that are unpacked at a time. Each piece costs a turn of the event loop: 16 KiB, the default, takes eight times as long. */
const largestPiece = 2 ** 18;

function unpacker(coding: Coding, packedLength: number) {
  // A small body needs no large piece, which would be allocated all the same.
  const chunkSize = Math.min(Math.max(zlib.Z_DEFAULT_CHUNK, 8 * packedLength), largestPiece);
  return coding === "gzip" ? createGunzip({ chunkSize }) : createInflate({ chunkSize });
}

/** One body is unpacked at a time: threads that unpack several would take the processors from the thread that answers. */
const unpacking = createLane();

/** Reads the body of a request. A compressed one is unpacked when all of it has arrived. Rejects with a RequestError. */
export async function readBody(
  message: IncomingMessage,
  options: Omit<BodyOptions, "length">,
): Promise<Uint8Array<ArrayBuffer>> {
  const announced = message.headers["content-length"];
  const coding = message.headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (coding !== "identity" && !isCoding(coding)) {
    const text = `the body has the Content-Encoding "${coding}"; expected one of ${codings.join(", ")}, or none`;
    throw new RequestError("unsupported", text);
  }
  // The parser of HTTP has checked that it is a number.
  const length = announced === undefined ? undefined : Number(announced);
  if (coding === "identity") return readAll(message, { ...options, length }, message);
  const { limit, hold = () => {} } = options;
  const packed = await readAll(message, { limit, length, hold }, message);
  return unpack(packed, coding, { ...options, hold: (bytes) => hold(packed.length + bytes) });
}

/** Unpacks a whole body or message after the earlier ones. Rejects with a RequestError. */
export function unpack(packed: Uint8Array, coding: Coding, options: BodyOptions): Promise<Uint8Array<ArrayBuffer>> {
  return unpacking(() => {
    const source = unpacker(coding, packed.length);
    source.end(packed);
    return readAll(source, options);
  });
}

/** Reads `source` to its end. `message`: the request that it belongs to; without one it is unpacked from memory. */
function readAll(source: Readable, options: BodyOptions, message?: Readable): Promise<Uint8Array<ArrayBuffer>> {
  return new Promise((resolve, reject) => {
    if (message?.destroyed) return reject(gone(0));
    const body = createCollector(options);
    const fail = (error: unknown) => {
      source.removeAllListeners("data");
      body.drop();
      if (source !== message) source.destroy();
      reject(error);
    };
    source.on("data", (chunk: Buffer) => {
      try {
        body.add(chunk);
      } catch (error) {
        fail(error);
      }
    });
    source.once("end", () => {
      try {
        resolve(body.take());
      } catch (error) {
        fail(error);
      }
    });
    if (source !== message) {
      source.on("error", (error) => fail(new RequestError("invalid", `cannot be unpacked: ${error.message}`)));
    }
    message?.once("error", () => fail(gone(body.received)));
    message?.once("close", () => {
      // Each request ends with this event; an error is created only if needed, since its stack costs time.
      if (!message.readableEnded) fail(gone(body.received));
    });
  });
}

function gone(received: number): RequestError {
  return new RequestError("cancelled", `the client has gone after ${received} bytes of the body`);
}

function tooLarge(limit: number): RequestError {
  return new RequestError("tooLarge", `the body is larger than the ${limit} bytes that the server takes`);
}
