/** The body of a request that may have large tensors, read with one copy: from the socket to the memory that moves to where they are computed. */
import { Buffer } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { RequestError } from "./errors.ts";

/** Elements of any type may lie at a multiple of it. */
const alignment = 8;

/** Bytes for which there is memory before they have arrived. */
const mostUnseen = 2 ** 20;

/**
 * Reads a body into memory that nothing else uses. `limit`: its most bytes; `before`: how many of its bytes come before the tensors, the first
 * of which is aligned; what is not an integer counts as 0. Rejects with a RequestError.
 */
export function readBody(message: IncomingMessage, limit: number, before = 0): Promise<Uint8Array<ArrayBuffer>> {
  const announced = message.headers["content-length"];
  // The parser of HTTP has checked that it is a number.
  const length = announced === undefined ? undefined : Number(announced);
  if (length !== undefined && length > limit) return Promise.reject(tooLarge(limit));
  return new Promise((resolve, reject) => {
    if (message.destroyed) return reject(gone(0));
    const first = Number.isSafeInteger(before) ? (alignment - (before % alignment)) % alignment : 0;
    const memory = (size: number) => Buffer.allocUnsafeSlow(first + size).subarray(first);
    let body = memory(Math.min(length ?? 0, mostUnseen));
    let received = 0;
    message.on("data", (chunk: Buffer) => {
      const end = received + chunk.length;
      if (end > limit) {
        message.removeAllListeners("data");
        return reject(tooLarge(limit));
      }
      if (end > body.length) {
        const larger = memory(length ?? Math.min(limit, 2 * end));
        larger.set(body.subarray(0, received));
        body = larger;
      }
      body.set(chunk, received);
      received = end;
    });
    const cut = () => reject(gone(received));
    message.once("end", () => {
      // Each request ends with it; an error costs what it says, and where it was made.
      message.off("close", cut);
      resolve(body.subarray(0, received));
    });
    message.once("error", cut);
    message.once("close", cut);
  });
}

function gone(received: number): RequestError {
  return new RequestError("cancelled", `the client has gone after ${received} bytes of the body`);
}

function tooLarge(limit: number): RequestError {
  return new RequestError("tooLarge", `the body is larger than the ${limit} bytes that the server takes`);
}
