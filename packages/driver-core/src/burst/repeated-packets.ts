/**
 * Requests and results follow one another with the same content: memories, places and shapes. Each side keeps the last packet that it has
 * read, so that one that repeats it is not read again, and has the same content, which is known to be right.
 */
import type { Malformed } from "./malformed.ts";
import { type BurstRequest, readRequest } from "./request-codec.ts";
import { type BurstResultPacket, readResult } from "./result-codec.ts";
import { wordsPerSlot } from "./ring.ts";

/** Words of a packet that is kept at most, and of one that is written without a buffer of its own. */
export const mostWords = 64 * wordsPerSlot;

/** Decodes request packets. The content is frozen if it is kept. */
export function requestDecoder(): (packet: Int32Array) => BurstRequest | Malformed {
  return remember(readRequest);
}

/** Decodes result packets. The content is frozen if it is kept. */
export function resultDecoder(): (packet: Int32Array) => BurstResultPacket | Malformed {
  return remember(readResult);
}

function remember<Content extends object>(
  decode: (packet: Int32Array) => Content | Malformed,
): (packet: Int32Array) => Content | Malformed {
  let words: Int32Array | undefined;
  let content: Content | undefined;
  return (packet) => {
    if (content !== undefined && words !== undefined && areSame(packet, words)) return content;
    const made = decode(packet);
    if (packet.length <= mostWords && !("malformed" in made)) {
      words = packet.slice();
      content = freeze(made);
    }
    return made;
  };
}

/** Several users get one content: none of them can change it for the others. */
function freeze<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    for (const part of Object.values(value)) freeze(part);
    Object.freeze(value);
  }
  return value;
}

function areSame(a: Int32Array, b: Int32Array): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}
