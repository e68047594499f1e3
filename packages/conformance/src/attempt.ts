/**
 * Isolates each case: an exception or a call that never returns is the failure of that case alone.
 */

/** The result of an attempt: its value, or the problem in words. `isLate`: there was no answer within the limit. */
export type Attempt<T> = { readonly value: T } | { readonly problem: string; readonly isLate?: true };

/** Calls back after some milliseconds; returns a cancel function. */
export type Timer = (milliseconds: number, callback: () => void) => () => void;

/** The system's timer. */
export const systemTimer: Timer = (milliseconds, callback) => {
  const timeout = setTimeout(callback, milliseconds);
  return () => clearTimeout(timeout);
};

/**
 * Runs `work` for at most `limit` milliseconds. Work beyond the limit goes on, but its result is ignored. Work that
 * blocks the event loop cannot be interrupted from the same thread.
 */
export async function attempt<T>(
  limit: number,
  work: () => Promise<T> | T,
  timer: Timer = systemTimer,
): Promise<Attempt<T>> {
  let cancel = () => {};
  const tooLate = new Promise<Attempt<T>>((resolve) => {
    cancel = timer(limit, () => resolve({ problem: `no answer within ${limit} ms`, isLate: true }));
  });
  try {
    return await Promise.race([runToValue(work), tooLate]);
  } finally {
    cancel();
  }
}

async function runToValue<T>(work: () => Promise<T> | T): Promise<Attempt<T>> {
  try {
    return { value: await work() };
  } catch (error) {
    return { problem: `threw ${describeError(error)}` };
  }
}

/**
 * Describes a thrown value, with the place in the source if it is an Error. Never throws, even if the value cannot be
 * read.
 */
export function describeError(error: unknown): string {
  try {
    if (!(error instanceof Error)) return String(error);
    const place = error.stack?.split("\n").find((line) => line.trimStart().startsWith("at "));
    return `${error.name}: ${error.message}${place === undefined ? "" : ` (${place.trim()})`}`;
  } catch {
    return `a value of type ${typeof error} that cannot be read`;
  }
}
