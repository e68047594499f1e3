/**
 * Signals, with which an end of a ring sleeps and is woken. The kind depends on the ring's buffer and on whether the thread may
 * block.
 */
/// <reference lib="es2024.sharedmemory" />

/** Sleeps on a word of shared memory and wakes sleepers. */
export interface Signal {
  /** Wakes the threads that sleep on a word. */
  wake(words: Int32Array, index: number): void;
  /**
   * Sleeps until the word is woken; returns at once if it is not `expected`. It can end early, never late. It has
   * blocked if it returns undefined.
   */
  sleep(words: Int32Array, index: number, expected: number): Promise<void> | void;
  /** Sleeps as `sleep` does, but blocks the thread, for some milliseconds at most. Absent: it must not block. */
  doze?(words: Int32Array, index: number, expected: number, milliseconds: number): void;
}

/** The thread of a page must not block: `Atomics.wait` throws there. */
const mayBlock = globalThis.process?.versions?.node !== undefined;

/**
 * For a ring in a SharedArrayBuffer, without blocking the thread for longer than it polls. `keepAlive`: whether the process stays alive while a
 * sleep lasts. Waits for an answer need it, waits for work do not.
 */
export function sharedSignal({ keepAlive = false }: { readonly keepAlive?: boolean } = {}): Signal {
  return {
    wake: (words, index) => void Atomics.notify(words, index),
    sleep(words, index, expected) {
      const waiting = Atomics.waitAsync(words, index, expected);
      if (!waiting.async) return;
      const alive = keepAlive ? setInterval(() => {}, 60_000) : undefined;
      return waiting.value.then(() => clearInterval(alive));
    },
    ...(mayBlock && {
      doze: (words: Int32Array, index: number, expected: number, milliseconds: number) =>
        void Atomics.wait(words, index, expected, milliseconds),
    }),
  };
}

/**
 * For a ring in a SharedArrayBuffer, blocking the thread: it wakes sooner, but nothing else runs in the thread
 * meanwhile. `milliseconds`: longest block; messages and timers of the thread run in between.
 */
export function blockingSignal({ milliseconds = 5 }: { readonly milliseconds?: number } = {}): Signal {
  return {
    wake: (words, index) => void Atomics.notify(words, index),
    sleep: (words, index, expected) => void Atomics.wait(words, index, expected, milliseconds),
  };
}

/** For a ring with both ends in one thread, in any memory. Both ends need the same signal object. */
export function localSignal(): Signal {
  const sleepers = new WeakMap<Int32Array["buffer"], Map<number, () => void>>();
  return {
    wake(words, index) {
      const inBuffer = sleepers.get(words.buffer);
      const at = words.byteOffset + index * words.BYTES_PER_ELEMENT;
      const wakeUp = inBuffer?.get(at);
      inBuffer?.delete(at);
      wakeUp?.();
    },
    sleep(words, index, expected) {
      if (words[index] !== expected) return;
      const inBuffer = sleepers.get(words.buffer) ?? new Map<number, () => void>();
      sleepers.set(words.buffer, inBuffer);
      return new Promise((resolve) => {
        inBuffer.set(words.byteOffset + index * words.BYTES_PER_ELEMENT, resolve);
      });
    },
  };
}
