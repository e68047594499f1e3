/**
 * Waits until a process no longer computes. Threads of engines go on looking for work after a run, some for 30 ms: with as many of them as
 * processors, they would take the time of whatever runs next.
 */

/** Options of waiting. */
export interface SettleOptions {
  /** Milliseconds of a clock that never goes back. */
  now(): number;
  /** Milliseconds of processors that the process has used. */
  readUsed(): number;
  sleep(milliseconds: number): Promise<void>;
}

/** Milliseconds between two looks, the share of a processor that counts as idle, and the longest time to wait. */
const settling = { pause: 5, idle: 0.25, longest: 500 };

/** Resolves when the process has been idle between two looks, or after the longest time. */
export async function settle({ now, readUsed: used, sleep }: SettleOptions): Promise<void> {
  const { pause, idle, longest } = settling;
  const end = now() + longest;
  let isIdle = false;
  while (!isIdle && now() < end) {
    const [begin, before] = [now(), used()];
    await sleep(pause);
    isIdle = used() - before < idle * (now() - begin);
  }
}
