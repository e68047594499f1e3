/**
 * How an end of a ring sleeps and is woken. It depends on what the ring lies in, and on whether the thread may block.
 */
/// <reference lib="es2024.sharedmemory" />

/** A way to sleep on a word of shared memory. */
export interface Signal {
  /** Wakes whoever sleeps on a word. */
  wake(words: Int32Array, index: number): void;
  /**
   * Sleeps until the word is woken, not at all where it does not hold `expected`. It may end early, never late. Where it
   * returns nothing, it has blocked.
   */
  sleep(words: Int32Array, index: number, expected: number): Promise<void> | void;
}

/**
 * For a ring in a SharedArrayBuffer, without blocking the thread. `keepAlive`: whether the process stays alive while
 * somebody sleeps; one who waits for an answer needs it, one who waits for work does not.
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
  };
}

/**
 * For a ring in a SharedArrayBuffer, blocking the thread: woken sooner, but nothing else runs there meanwhile.
 * `milliseconds`: how long at a stretch; messages and timers of the thread get their turn in between.
 */
export function blockingSignal({ milliseconds = 5 }: { readonly milliseconds?: number } = {}): Signal {
  return {
    wake: (words, index) => void Atomics.notify(words, index),
    sleep: (words, index, expected) => void Atomics.wait(words, index, expected, milliseconds),
  };
}

/** For a ring whose both ends are in one thread, in any memory. Both need the same one. */
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
