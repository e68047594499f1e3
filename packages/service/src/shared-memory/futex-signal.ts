/**
 * Sleeping and waking of the ends of a ring in mapped memory, by futexes that processes share. `Atomics.wait` refuses
 * such memory.
 */
import type { Signal } from "@nnhal/driver-core/burst";
import { type Linux, linux } from "./linux.ts";
import { addressOf, createWaitSet, ringDoorbell } from "./wait-set.ts";

/** Milliseconds that one call waits on a thread of the pool: a thread that ends waits for it. */
const longestElsewhere = 250;
/** Milliseconds between looks at words that a call cannot wait for. */
const lookInterval = 1;

let ofThisThread: Signal | undefined;

/**
 * For any thread: it never blocks the event loop. One thread of the pool waits for all sleepers of this thread, and a sleep
 * keeps the process alive. Where the system cannot wait for several words in one call (before Linux 5.16, or for more than
 * 127 sleepers), the words are looked at every millisecond.
 */
export const mappedSignal: Signal = {
  wake: (words, index) => own().wake(words, index),
  sleep: (words, index, expected) => own().sleep(words, index, expected),
  doze(words, index, expected, milliseconds) {
    const system = present();
    system.wait({ address: addressOf(system, words, index), expected }, milliseconds);
  },
};

function own(): Signal {
  ofThisThread ??= createSleeping(present()).signal;
  return ofThisThread;
}

/**
 * For a thread that does nothing else: it blocks the thread for at most some milliseconds at a time (default 5). Messages
 * and timers of the thread run in between.
 */
export function blockingFutexSignal({ milliseconds = 5 }: { readonly milliseconds?: number } = {}): Signal {
  const system = present();
  return {
    wake: (words, index) => system.wake(addressOf(system, words, index)),
    sleep(words, index, expected) {
      system.wait({ address: addressOf(system, words, index), expected }, milliseconds);
    },
  };
}

/** Sleeping of a worker thread that serves bursts and messages. */
export interface Parking {
  /** The signal of all bursts that the thread serves. */
  readonly signal: Signal;
  /** The doorbell that other threads ring (`ringParked`) after they have posted a message to this one. */
  readonly doorbell: bigint;
  /**
   * Runs work of this thread that is not in a burst's queue, or waits for events: the thread does not block meanwhile. All
   * executions of bursts belong here too.
   */
  runUnblocked<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * For a worker thread that serves bursts and messages: when all sleep and no work is under way, the thread blocks until a word
 * of a ring changes or its doorbell is rung. It wakes sooner than an event loop does. `slice`: milliseconds that it blocks at
 * most, and so the most by which its timers, and messages without a ring, are late. Default 20.
 */
export function createParking({ slice = 20 }: { readonly slice?: number } = {}): Parking {
  return createSleeping(present(), slice);
}

/** Wakes a thread of this process that is parked. */
export function ringParked(doorbell: bigint): void {
  ringDoorbell(present(), doorbell);
}

/** `slice`: how long the thread may block; undefined if it must not. */
function createSleeping(system: Linux, slice?: number): Parking {
  const sleepers = createWaitSet(system);
  let underWay = 0;
  let isWaiting = false;
  const look = () => {
    isWaiting = false;
    sleepers.wake();
    // Those that were woken may sleep again before the next call, and messages have their turn.
    if (sleepers.size > 0) setImmediate(wait);
  };
  const wait = () => {
    if (isWaiting || sleepers.size === 0) return;
    if (slice !== undefined && underWay === 0) {
      sleepers.wait(sleepers.isWhole ? slice : lookInterval);
      look();
    } else {
      isWaiting = true;
      if (sleepers.isWhole) sleepers.waitElsewhere(longestElsewhere, look);
      else setTimeout(look, lookInterval);
    }
  };
  return {
    signal: {
      wake: (words, index) => system.wake(addressOf(system, words, index)),
      sleep(words, index, expected) {
        if (Atomics.load(words, index) !== expected) return;
        const sleeping = sleepers.add(words, index, expected);
        if (isWaiting) sleepers.ring();
        else setImmediate(wait);
        return sleeping;
      },
    },
    doorbell: sleepers.doorbell,
    async runUnblocked(work) {
      underWay++;
      try {
        return await work();
      } finally {
        underWay--;
        if (isWaiting) sleepers.ring();
      }
    },
  };
}

function present(): Linux {
  const system = linux();
  // Only memory that was mapped by these calls has such signals.
  if ("missing" in system) throw new Error(`futexes: ${system.missing}`);
  return system;
}
