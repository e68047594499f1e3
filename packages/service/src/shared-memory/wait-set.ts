/** Words of mapped memory that a thread sleeps on in one call (futex_waitv, Linux 5.16). */
import { ErrorNumber, type Linux } from "./linux.ts";

/** Sleepers of one thread. */
export interface WaitSet {
  /** Resolves when the word is not `expected`. */
  add(words: Int32Array, index: number, expected: number): Promise<void>;
  readonly size: number;
  /** Ends a `wait` under way, or the next one, from any thread that knows `doorbell`. */
  ring(): void;
  /** The address of the word that `ring` counts up. */
  readonly doorbell: bigint;
  /** True if one call can wait for all sleepers; otherwise they must be polled. */
  readonly isWhole: boolean;
  /** Blocks this thread until a word has changed, `ring` is called, or the time has passed. */
  wait(milliseconds: number): void;
  /** The same on a thread of the pool. `done` is called afterwards. */
  waitElsewhere(milliseconds: number, done: () => void): void;
  /** Wakes the sleepers whose words have changed. */
  wake(): void;
}

const waiterSize = 24;
/** Most words of one call. One is the doorbell. */
const mostWaiters = 128;
const FUTEX2_SIZE_U32 = 2;
const CLOCK_MONOTONIC = 1;
const pageSize = 4096;
const at = { time: mostWaiters * waiterSize, doorbell: mostWaiters * waiterSize + 64 } as const;

/** The address of a word. Buffers have one address for as long as they live. */
export function addressOf({ library }: Pick<Linux, "library">, words: Int32Array, index: number): bigint {
  let start = addresses.get(words.buffer);
  if (start === undefined) {
    start = library.address(words.buffer);
    addresses.set(words.buffer, start);
  }
  return start + BigInt(words.byteOffset + index * words.BYTES_PER_ELEMENT);
}

const addresses = new WeakMap<ArrayBufferLike, bigint>();

interface Sleeper {
  readonly words: Int32Array;
  readonly index: number;
  readonly expected: number;
  readonly address: bigint;
  readonly resolve: () => void;
}

/** An empty set. The page that it needs is never given back: a set is made once for a thread. */
export function createWaitSet(system: Linux): WaitSet {
  const { library, numbers } = system;
  const declaration =
    "long syscall(long number, int64_t waiters, unsigned int count, unsigned int flags, int64_t timeout, int clock)";
  const waitv = library.func(declaration);
  const page = system.allocate(pageSize);
  const buffer = library.view(page, pageSize);
  const view = new DataView(buffer);
  const bell = new Int32Array(buffer, at.doorbell, 1);
  const sleepers = new Set<Sleeper>();
  // A call without waiters is not valid where the call exists.
  const isKnown =
    Number(waitv(numbers.futexWaitV, page, 0, 0, 0n, CLOCK_MONOTONIC)) < 0 && library.errno() === ErrorNumber.EINVAL;
  let heard = 0;

  const setWaiter = (index: number, address: bigint, expected: number) => {
    const start = index * waiterSize;
    view.setBigUint64(start, BigInt(expected >>> 0), true);
    view.setBigUint64(start + 8, address, true);
    view.setUint32(start + 16, FUTEX2_SIZE_U32, true);
    view.setUint32(start + 20, 0, true);
  };
  /** Writes the arguments of a call. Returns how many words it waits for. */
  const prepare = (milliseconds: number) => {
    const end = process.hrtime.bigint() + BigInt(Math.round(milliseconds * 1e6));
    view.setBigInt64(at.time, end / 1_000_000_000n, true);
    view.setBigInt64(at.time + 8, end % 1_000_000_000n, true);
    setWaiter(0, page + BigInt(at.doorbell), heard);
    let count = 1;
    for (const { address, expected } of sleepers) {
      if (count === mostWaiters) break;
      setWaiter(count++, address, expected);
    }
    return count;
  };
  const argumentsOf = (count: number) =>
    [numbers.futexWaitV, page, count, 0, page + BigInt(at.time), CLOCK_MONOTONIC] as const;
  return {
    get size() {
      return sleepers.size;
    },
    get isWhole() {
      return isKnown && sleepers.size < mostWaiters;
    },
    doorbell: page + BigInt(at.doorbell),
    ring() {
      Atomics.add(bell, 0, 1);
      system.wake(page + BigInt(at.doorbell));
    },
    add: (words, index, expected) =>
      new Promise((resolve) => {
        sleepers.add({ words, index, expected, address: addressOf(system, words, index), resolve });
      }),
    wait(milliseconds) {
      if (isKnown) waitv(...argumentsOf(prepare(milliseconds)));
      else system.wait({ address: page + BigInt(at.doorbell), expected: heard }, milliseconds);
      heard = Atomics.load(bell, 0);
    },
    waitElsewhere(milliseconds, done) {
      waitv.async(...argumentsOf(prepare(milliseconds)), () => {
        heard = Atomics.load(bell, 0);
        done();
      });
    },
    wake() {
      for (const sleeper of sleepers) {
        const { words, index, expected, resolve } = sleeper;
        if (Atomics.load(words, index) === expected) continue;
        sleepers.delete(sleeper);
        resolve();
      }
    },
  };
}

/** Rings the doorbell of a wait set of another thread of this process. */
export function ringDoorbell(system: Linux, doorbell: bigint): void {
  const words = new Int32Array(system.library.view(doorbell, Int32Array.BYTES_PER_ELEMENT));
  Atomics.add(words, 0, 1);
  system.wake(doorbell);
}
