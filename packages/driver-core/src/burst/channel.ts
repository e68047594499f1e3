/**
 * The queues of a burst: making one, and opening one that somebody hands over.
 */
import type { FmqDescriptor } from "@nnhal/types";
import { allocateMemory, mapMemory } from "../memory/memory.ts";
import { checkRing, greatestCapacity, initialiseRing, leastCapacity, type NoRing, ringWords } from "./ring.ts";

/** Data that a queue holds unless told otherwise: room for every request and result but very long ones. */
export const defaultCapacity = 1024;

type DatumName = "FmqRequestDatum" | "FmqResultDatum";

/** A queue and where its ring lies. */
export interface Channel<Datum extends DatumName> {
  readonly descriptor: FmqDescriptor<Datum>;
  readonly words: Int32Array;
}

/** Makes a queue of some data, in memory that all threads of this process can share. `capacity`: a power of two. */
export function createChannel<Datum extends DatumName>(datum: Datum, capacity: number): Channel<Datum> {
  if (!Number.isInteger(capacity) || capacity < leastCapacity || capacity > greatestCapacity) {
    throw new RangeError(`a queue of ${capacity} data cannot be made: ${leastCapacity} to ${greatestCapacity} can`);
  }
  const memory = allocateMemory(ringWords(capacity) * Int32Array.BYTES_PER_ELEMENT);
  const words = mapWords(memory);
  if ("noRing" in words) throw new Error(`making a queue: ${words.noRing}`);
  initialiseRing(words, capacity);
  return { descriptor: { datum, memory, capacity }, words };
}

/** Where the ring of a queue lies, or why it is no queue of such data. The descriptor may be anything. */
export function openChannel(descriptor: FmqDescriptor<DatumName>, datum: DatumName): Int32Array | NoRing {
  try {
    if (typeof descriptor !== "object" || descriptor === null) {
      return { noRing: `it is ${descriptor} where the descriptor of a queue of ${datum} is needed` };
    }
    if (descriptor.datum !== datum) return { noRing: `it is a queue of ${descriptor.datum} where ${datum} is needed` };
    const words = mapWords(descriptor.memory);
    return "noRing" in words ? words : (checkRing(words, descriptor.capacity) ?? words);
  } catch (error) {
    return { noRing: error instanceof Error ? error.message : String(error) };
  }
}

function mapWords(memory: FmqDescriptor<DatumName>["memory"]): Int32Array | NoRing {
  const bytes = mapMemory(memory);
  if ("unmappable" in bytes) return { noRing: bytes.unmappable };
  const { BYTES_PER_ELEMENT } = Int32Array;
  if (bytes.byteOffset % BYTES_PER_ELEMENT !== 0) {
    return { noRing: `its memory begins at ${bytes.byteOffset}, which is no multiple of ${BYTES_PER_ELEMENT}` };
  }
  return new Int32Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.byteLength / BYTES_PER_ELEMENT));
}
