/** The queues of a burst: makes a queue, and opens a queue that the other side has made. */
import type { FmqDescriptor, Memory } from "@nnhal/types";
import { allocateMemory, mapPool } from "../memory/memory.ts";
import type { Signal } from "../memory/signal.ts";
import { checkRing, greatestCapacity, initialiseRing, leastCapacity, type NoRing, ringWords } from "./ring.ts";

/** Default capacity of a queue in data: enough for all requests and results except very long ones. */
export const defaultCapacity = 1024;

type DatumName = "FmqRequestDatum" | "FmqResultDatum";

/** A queue and where its ring lies. */
export interface Channel<Datum extends DatumName> {
  readonly descriptor: FmqDescriptor<Datum>;
  readonly words: Int32Array;
}

/**
 * Makes a queue of some data. `capacity`: a power of two. `allocate`: where the queue lies; default: memory that all threads
 * of this process can share.
 */
export function createChannel<Datum extends DatumName>(
  datum: Datum,
  capacity: number,
  allocate: (size: number) => Memory = allocateMemory,
): Channel<Datum> {
  if (!Number.isInteger(capacity) || capacity < leastCapacity || capacity > greatestCapacity) {
    throw new RangeError(`a queue of ${capacity} data cannot be made: ${leastCapacity} to ${greatestCapacity} can`);
  }
  const memory = allocate(ringWords(capacity) * Int32Array.BYTES_PER_ELEMENT);
  const words = mapWords(memory);
  if ("noRing" in words) throw new Error(`making a queue: ${words.noRing}`);
  initialiseRing(words, capacity);
  return { descriptor: { datum, memory, capacity }, words };
}

/** The ring of a queue, or why the descriptor is not a queue of such data. The descriptor can be any value. */
export function openChannel(descriptor: FmqDescriptor<DatumName>, datum: DatumName): Int32Array | NoRing {
  try {
    if (typeof descriptor !== "object" || descriptor === null) {
      return { noRing: `expected the descriptor of a queue of ${datum}, got ${descriptor}` };
    }
    if (descriptor.datum !== datum) return { noRing: `expected a queue of ${datum}, got one of ${descriptor.datum}` };
    const words = mapWords(descriptor.memory);
    return "noRing" in words ? words : (checkRing(words, descriptor.capacity) ?? words);
  } catch (error) {
    return { noRing: error instanceof Error ? error.message : String(error) };
  }
}

/** Returns the signal with which the ends of a queue in some memory sleep, if the memory's mapping has one. */
export function signalOf({ memory }: FmqDescriptor<DatumName>): Signal | undefined {
  const mapping = mapPool(memory);
  return "unmappable" in mapping ? undefined : mapping.signal;
}

function mapWords(memory: Memory): Int32Array | NoRing {
  const mapping = mapPool(memory);
  if ("unmappable" in mapping) return { noRing: mapping.unmappable };
  if (mapping.load !== undefined) return { noRing: "its memory is a copy that the other end does not see" };
  if (mapping.opaque !== undefined) return { noRing: "its memory is a hardware_buffer, whose layout is private" };
  const { bytes } = mapping;
  const { BYTES_PER_ELEMENT } = Int32Array;
  if (bytes.byteOffset % BYTES_PER_ELEMENT !== 0) {
    return { noRing: `its memory begins at ${bytes.byteOffset}, which is not a multiple of ${BYTES_PER_ELEMENT}` };
  }
  return new Int32Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.byteLength / BYTES_PER_ELEMENT));
}
