/**
 * A fast message queue: a ring of fixed slots in shared memory, one writer, one reader. Head and tail only increase
 * (modulo 2^32); a packet of several slots is published by one atomic store of the tail, so a reader sees all of it or
 * nothing. Neither end trusts the other: each keeps a private copy of its own counter and checks the other's. A reader
 * copies slots out before they are decoded.
 *
 * A ring lies in an Int32Array over any buffer. The kind of buffer decides how a sleeping end is woken: see `Signal`.
 */
import { elementAt } from "@nnhal/operations";
import type { Signal } from "../memory/signal.ts";

/** Words of one slot: one datum. */
export const wordsPerSlot = 8;
/** Fewest slots of a ring: the shortest result is a packet of two. */
export const leastCapacity = 2;
/** Most slots of a ring. */
export const greatestCapacity = 1 << 16;

/** Indexes of the header's words. Words that one end writes often have a cache line of their own. */
const Word = {
  magic: 0,
  capacity: 1,
  /** Written by the writer. */
  tail: 16,
  writerClosed: 17,
  writerSleeps: 18,
  /** Incremented by the writer at intervals while it works: a sign of life. */
  writerPulse: 19,
  /** Written by the reader. */
  head: 32,
  readerClosed: 33,
  readerSleeps: 34,
  /** Incremented to wake the reader. */
  readerBell: 48,
  /** Incremented to wake the writer. */
  writerBell: 49,
} as const;
const headerWords = 64;
const magic = 0x716d_6e6e;

/** Why a memory is not a valid ring. */
export interface NoRing {
  readonly noRing: string;
}

/** The number of words of a ring with `capacity` slots. */
export function ringWords(capacity: number): number {
  return headerWords + capacity * wordsPerSlot;
}

/**
 * Makes a ring in zeroed memory of `ringWords(capacity)` words. `capacity`: a power of two, because the counters that
 * select slots wrap. `start`: initial value of head and tail.
 */
export function initialiseRing(words: Int32Array, capacity: number, start = 0): void {
  const wrong = checkCapacity(capacity, words.length);
  if (wrong !== undefined) throw new RangeError(`making a ring: ${wrong}`);
  words[Word.capacity] = capacity;
  words[Word.tail] = start;
  words[Word.head] = start;
  Atomics.store(words, Word.magic, magic);
}

/** Checks that `words` contain a ring with `capacity` slots; returns why if they do not. */
export function checkRing(words: Int32Array, capacity: number): NoRing | undefined {
  const wrong = checkCapacity(capacity, words.length);
  if (wrong !== undefined) return { noRing: wrong };
  if (Atomics.load(words, Word.magic) !== magic) return { noRing: "its memory holds no ring" };
  const held = Atomics.load(words, Word.capacity);
  return held === capacity ? undefined : { noRing: `its ring: expected the announced ${capacity} slots, got ${held}` };
}

function checkCapacity(capacity: number, length: number): string | undefined {
  if (!Number.isInteger(capacity) || capacity < leastCapacity || capacity > greatestCapacity) {
    return `the capacity: expected an integer from ${leastCapacity} to ${greatestCapacity}, got ${capacity}`;
  }
  if ((capacity & (capacity - 1)) !== 0) return `the capacity: expected a power of two, got ${capacity}`;
  const needed = ringWords(capacity);
  return length < needed ? `${length} words of memory for ${capacity} slots, which need ${needed}` : undefined;
}

/** One end of a ring. */
export interface RingEnd {
  /** Returns true if the other end has closed. */
  isPeerClosed(): boolean;
  /** Closes this end and wakes the other. */
  close(): void;
  /** Wakes a thread that sleeps at this end. */
  wake(): void;
  /** Sleeps until `isReady` is true, the other end or `wake` wakes it, or some time has passed. */
  sleep(isReady: () => boolean): Promise<void> | void;
}

/** The end that packets are written to. */
export interface RingWriter extends RingEnd {
  /** Slots that are free now. */
  free(): number;
  /** Publishes a packet. Returns false and writes nothing if the packet does not fit. */
  write(packet: Int32Array): boolean;
  /** Signals that this end is alive. */
  beat(): void;
}

/** The end that packets are read from. */
export interface RingReader extends RingEnd {
  /**
   * All published slots, as words that stay valid until the next call; undefined if there are none. Empty if the
   * writer's counter is not valid: the slots are lost.
   */
  read(): Int32Array | undefined;
  /** A number that changes with each sign of life of the writer. */
  pulse(): number;
  /** Sleeps as `sleep` does, but blocks the thread, for some milliseconds at most. Absent: it must not block. */
  readonly doze?: ((isReady: () => boolean, milliseconds: number) => void) | undefined;
}

/** A ring's writer. There must be no other. */
export function ringWriter(words: Int32Array, capacity: number, signal: Signal): RingWriter {
  let tail = Atomics.load(words, Word.tail);
  const free = () => {
    const used = (tail - Atomics.load(words, Word.head)) >>> 0;
    return used > capacity ? 0 : capacity - used;
  };
  return {
    free,
    write(packet) {
      const count = packet.length / wordsPerSlot;
      if (count > free()) return false;
      copyIn(words, capacity, tail, packet);
      tail = (tail + count) | 0;
      Atomics.store(words, Word.tail, tail);
      if (Atomics.load(words, Word.readerSleeps) !== 0) ring(words, Word.readerBell, signal);
      return true;
    },
    beat: () => void Atomics.add(words, Word.writerPulse, 1),
    isPeerClosed: () => Atomics.load(words, Word.readerClosed) !== 0,
    close() {
      Atomics.store(words, Word.writerClosed, 1);
      ring(words, Word.readerBell, signal);
    },
    wake: () => ring(words, Word.writerBell, signal),
    sleep: (isReady) => sleepAt(words, Word.writerSleeps, Word.writerBell, signal, isReady),
  };
}

/** A ring's reader. There must be no other. */
export function ringReader(words: Int32Array, capacity: number, signal: Signal): RingReader {
  let head = Atomics.load(words, Word.head);
  const copy = new Int32Array(capacity * wordsPerSlot);
  return {
    read() {
      const tail = Atomics.load(words, Word.tail);
      const count = (tail - head) >>> 0;
      if (count === 0) return undefined;
      const makesSense = count <= capacity;
      if (makesSense) copyOut(words, capacity, head, count, copy);
      head = tail;
      Atomics.store(words, Word.head, head);
      if (Atomics.load(words, Word.writerSleeps) !== 0) ring(words, Word.writerBell, signal);
      return copy.subarray(0, makesSense ? count * wordsPerSlot : 0);
    },
    pulse: () => Atomics.load(words, Word.writerPulse),
    isPeerClosed: () => Atomics.load(words, Word.writerClosed) !== 0,
    close() {
      Atomics.store(words, Word.readerClosed, 1);
      ring(words, Word.writerBell, signal);
    },
    wake: () => ring(words, Word.readerBell, signal),
    sleep: (isReady) => sleepAt(words, Word.readerSleeps, Word.readerBell, signal, isReady),
    doze: signal.doze && dozeAt(words, Word.readerSleeps, Word.readerBell, signal.doze.bind(signal)),
  };
}

function ring(words: Int32Array, bell: number, signal: Signal): void {
  Atomics.add(words, bell, 1);
  signal.wake(words, bell);
}

/**
 * No wake-up is lost: the sleeper reads the bell before it checks the condition for the last time, and the other end
 * reads the sleeper's flag after it has published.
 */
function sleepAt(
  words: Int32Array,
  flag: number,
  bell: number,
  signal: Signal,
  isReady: () => boolean,
): Promise<void> | void {
  Atomics.store(words, flag, 1);
  const heard = Atomics.load(words, bell);
  const sleeping = isReady() ? undefined : signal.sleep(words, bell, heard);
  if (sleeping === undefined) Atomics.store(words, flag, 0);
  else return sleeping.then(() => void Atomics.store(words, flag, 0));
}

function dozeAt(words: Int32Array, flag: number, bell: number, doze: NonNullable<Signal["doze"]>): RingReader["doze"] {
  return (isReady, milliseconds) => {
    Atomics.store(words, flag, 1);
    const heard = Atomics.load(words, bell);
    if (!isReady()) doze(words, bell, heard, milliseconds);
    Atomics.store(words, flag, 0);
  };
}

function copyIn(words: Int32Array, capacity: number, at: number, packet: Int32Array): void {
  const start = (at & (capacity - 1)) * wordsPerSlot;
  const first = Math.min(packet.length, capacity * wordsPerSlot - start);
  copyWords(packet, 0, words, headerWords + start, first);
  copyWords(packet, first, words, headerWords, packet.length - first);
}

function copyOut(words: Int32Array, capacity: number, at: number, count: number, copy: Int32Array): void {
  const start = (at & (capacity - 1)) * wordsPerSlot;
  const length = count * wordsPerSlot;
  const first = Math.min(length, capacity * wordsPerSlot - start);
  copyWords(words, headerWords + start, copy, 0, first);
  copyWords(words, headerWords, copy, first, length - first);
}

/** Most packets are so short that a loop is faster than a view for `set`. */
function copyWords(from: Int32Array, fromAt: number, to: Int32Array, toAt: number, count: number): void {
  if (count > 256) to.set(from.subarray(fromAt, fromAt + count), toAt);
  else for (let index = 0; index < count; index++) to[toAt + index] = elementAt(from, fromAt + index);
}
